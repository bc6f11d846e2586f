import { readPieces } from "../../files/read-pieces.js";
import { splitLines } from "../../files/split-lines.js";
import type { ReadRows } from "../format.js";

/** The rows of a JSONL file: its lines as they are. */
export const readRows: ReadRows = async function* (_kind, { path }) {
  for await (const lines of splitLines(readPieces(path))) yield lines.map((line) => line.toString("utf8"));
};
