/** Digits and points in a row from which on a number may be more than a double holds. */
const long = 16;

const nothing = new Uint8Array();

/** Looks for long numbers in the pieces of a JSON file. It looks at every 16th byte, as each such number holds one. */
export class LongNumbers {
  found = false;
  /** The end of the pieces before, as long as a number may go on from it. */
  #before: Uint8Array = nothing;

  add(piece: Uint8Array): void {
    if (this.found) return;
    const seam = this.#before.length > 0 && Buffer.concat([this.#before, piece.subarray(0, long)]);
    this.found = hasLongNumber(piece) || (seam !== false && hasLongNumber(seam));
    const last = piece.at(-1);
    const goesOn = last === undefined || isDigit(last) || startsNumber(last);
    this.#before = goesOn ? Buffer.concat([this.#before, piece.subarray(-long - 1)]).subarray(-long - 1) : nothing;
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
