import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ReadRows, StagedFile, Writer } from "./format.js";

export { selectRows } from "./jsonl.js";

/** A format for tests: JSONL with a blank before each line. */
export function openWriter(): Writer {
  return {
    format: "toy",
    finish: async ({ folder, tables }) => {
      const files: StagedFile[] = [];
      for (const { kind, jsonl } of tables) {
        const path = `${kind}.toy`;
        const lines = (await readFile(jsonl.path, "utf8")).split("\n").slice(0, -1);
        const bytes = Buffer.from(lines.map((line) => ` ${line}\n`).join(""));
        await writeFile(join(folder, path), bytes, { mode: 0o600 });
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        files.push({ path, rows: lines.length, bytes: bytes.length, sha256 });
      }
      return files;
    },
  };
}

export const readRows: ReadRows = async function* (_kind, { paths }) {
  for (const path of paths) {
    const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
    yield lines.map((line) => line.slice(1));
  }
};
