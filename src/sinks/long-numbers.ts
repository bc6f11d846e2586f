/** Digits and points in a row from which on a number may be more than a double holds. */
const long = 16;

/** Looks for long numbers in the pieces of a JSON file. It looks at every 16th byte, as each such number holds one. */
export class LongNumbers {
  found = false;
  /** The end of the pieces before, as long as a number may go on from it. */
  #before: Uint8Array = new Uint8Array();

  add(piece: Uint8Array): void {
    if (this.found) return;
    const seam = Buffer.concat([this.#before, piece.subarray(0, long)]);
    this.found = hasLongNumber(seam) || hasLongNumber(piece);
    this.#before = Buffer.concat([this.#before, piece.subarray(-long - 1)]).subarray(-long - 1);
  }
}

function hasLongNumber(bytes: Uint8Array): boolean {
  for (let at = long - 1; at < bytes.length; at += long) {
    if (!isDigit(bytes[at])) continue;
    let first = at;
    while (isDigit(bytes[first - 1])) first--;
    if (!startsNumber(bytes[first - 1])) continue;
    let last = at;
    while (isDigit(bytes[last + 1])) last++;
    if (last - first + 1 >= long) return true;
  }
  return false;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 46 && byte <= 57 && byte !== 47;
}

/** `:`, `,`, `[` or `-`: what stands before a number, and before few of the digits in texts and hashes. */
function startsNumber(byte: number | undefined): boolean {
  return byte === 58 || byte === 44 || byte === 91 || byte === 45;
}
