import { UnreadableError } from "../../files/unreadable-error.js";

/** The longest record that is read, in bytes: far above what a row can be, and below what a string of JavaScript can hold. */
const longest = 256 * 1024 * 1024;
const quote = 34;
const lineFeed = 10;

/** The records of a CSV file, without the line feeds at their ends, as soon as each is whole. Memory is that of one of them. */
export async function* splitRecords(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let begun: Buffer[] = [];
  let isQuoted = false;
  for await (const piece of pieces) {
    const records: Buffer[] = [];
    let start = 0;
    for (let from = 0; from < piece.length; ) {
      const end = piece.indexOf(lineFeed, from);
      const stop = end < 0 ? piece.length : end;
      if (hasOddQuotes(piece.subarray(from, stop))) isQuoted = !isQuoted;
      from = stop + 1;
      if (end < 0 || isQuoted) continue; // a line feed between quotes ends no record
      records.push(Buffer.concat([...begun, piece.subarray(start, end)]));
      begun = [];
      start = from;
    }
    begun.push(piece.subarray(start));
    if (begun.reduce((sum, { length }) => sum + length, 0) > longest)
      throw new UnreadableError(`a row is longer than ${longest >> 20} MB`);
    yield records;
  }
  const rest = Buffer.concat(begun);
  if (rest.length > 0) yield [rest];
}

function hasOddQuotes(bytes: Buffer): boolean {
  let isOdd = false;
  for (let at = bytes.indexOf(quote); at >= 0; at = bytes.indexOf(quote, at + 1)) isOdd = !isOdd;
  return isOdd;
}
