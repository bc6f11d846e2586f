/** Bytes that are written at once. */
const size = 1 << 20;

/**
 * Gathers small pieces to large ones, which a disk takes with fewer calls. A piece that it takes, and one that it gives, may be used
 * again once the next one is asked for: fresh memory for each keeps the garbage collector busy.
 */
export async function* gatherPieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gathered = Buffer.allocUnsafeSlow(size);
  let length = 0;
  for await (const piece of pieces) {
    if (length + piece.length > size) {
      if (length > 0) yield gathered.subarray(0, length);
      length = 0;
    }
    if (piece.length > size) {
      yield piece;
      continue;
    }
    piece.copy(gathered, length);
    length += piece.length;
  }
  if (length > 0) yield gathered.subarray(0, length);
}
