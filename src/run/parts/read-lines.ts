import { createReadStream } from "node:fs";

/** Bytes of a file, from `start` to `end`, which is one of them; all of them where nothing else is said. */
interface Range {
  readonly start?: number;
  readonly end?: number;
}

/** The lines of a JSONL file, without their line feeds. Nothing but a line feed ends a line: U+2028 may stand in a text. */
export async function* readLines(path: string, range: Range = {}): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of createReadStream(path, range)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest) yield rest;
}
