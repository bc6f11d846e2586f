import { UnreadableError } from "./unreadable-error.js";

/** The longest line that is read, in bytes: far above what a row can be, and below what a string of JavaScript can hold. */
const longest = 256 * 1024 * 1024;

/** The lines of a file, without their line feeds, some at a time. Memory is that of one piece or line. */
export async function* splitLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let begun: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      const rest = piece.subarray(start, end);
      lines.push(begun.length > 0 ? Buffer.concat([...begun, rest]) : rest);
      begun = [];
      size = 0;
      start = end + 1;
    }
    if (start < piece.length) begun.push(piece.subarray(start));
    size += piece.length - start;
    if (size > longest) throw new UnreadableError(`a row is longer than ${longest >> 20} MB`);
    yield lines;
  }
  if (begun.length > 0) yield [Buffer.concat(begun)];
}
