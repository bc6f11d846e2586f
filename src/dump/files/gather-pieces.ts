/** Bytes that are written at once. */
const size = 1 << 20;

/** Gathers small pieces to large ones, which a disk takes with fewer calls. A piece may be used again once the next one is asked for. */
export async function* gatherPieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered = Buffer.allocUnsafe(size);
  let length = 0;
  for await (const piece of pieces) {
    if (length + piece.length > size) {
      if (length > 0) yield gathered.subarray(0, length);
      [gathered, length] = [Buffer.allocUnsafe(Math.max(size, piece.length)), 0];
    }
    piece.copy(gathered, length);
    length += piece.length;
  }
  if (length > 0) yield gathered.subarray(0, length);
}
