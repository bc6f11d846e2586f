const lineFeed = 10;
/** Bytes of UTF-8 that a UTF-16 code unit takes at the most. */
const widest = 3;
/** Bytes that are kept at the most: those of a megabyte of text, which is what waits for the disk, and of some rows more. */
const mostKept = 4_194_304;

/** UTF-8 of the texts, a line feed behind each: written once, without a joined text in between. */
export function encodeLines(texts: readonly string[]): Buffer {
  return new LineEncoder().encode(texts);
}

/** Encodes lines, time and again, into the same memory: fresh memory takes longer than the encoding. */
export class LineEncoder {
  #room = Buffer.alloc(0);

  /** UTF-8 of the texts, a line feed behind each; valid until the next call. */
  encode(texts: readonly string[]): Buffer {
    let most = texts.length;
    for (const { length } of texts) most += length * widest;
    const room = this.#room.length < most ? Buffer.allocUnsafeSlow(most) : this.#room;
    if (most <= mostKept) this.#room = room;
    let at = 0;
    for (const text of texts) {
      at += room.write(text, at);
      room[at++] = lineFeed;
    }
    return room.subarray(0, at);
  }
}
