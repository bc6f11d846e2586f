import { crc32 } from "node:zlib";

/** The text of a journal with these lines; each has the checksum of all lines up to it. */
export function journalText(...lines: readonly object[]): string {
  const bodies = lines.map((line) => JSON.stringify(line));
  const sums = bodies.map((_, at) => crc32(bodies.slice(0, at + 1).join("")).toString(16));
  return bodies.map((body, at) => `${body.slice(0, -1)},"crc":"${sums[at]?.padStart(8, "0")}"}\n`).join("");
}
