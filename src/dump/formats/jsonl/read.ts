import { readTextPieces } from "../../files/read-pieces.js";
import { splitLines } from "../../files/split-lines.js";
import type { ReadRows } from "../format.js";

/** The rows of JSONL files: their lines as they are. */
export const readRows: ReadRows = async function* (_kind, { paths }) {
  for (const path of paths)
    for await (const lines of splitLines(readTextPieces(path))) yield lines.map((line) => line.toString("utf8"));
};
