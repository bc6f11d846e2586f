import { readFile } from "node:fs/promises";
import type { ReadRows } from "../format.js";

export const readRows: ReadRows = async function* (_kind, { paths }) {
  for (const path of paths) {
    const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
    yield lines.map((line) => line.slice(1));
  }
};
