import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { csvText, readRows } from "../../../src/dump/formats/csv.js";
import { inFull } from "../../rounds.js";
import { chunk } from "../../verify/sound-tables.js";
import { plainFolder } from "./folder.js";
import { duckDbOptions } from "./formats.js";

/** Reads a CSV file of chunks with this text below the header. */
async function read(text: string): Promise<readonly Record<string, unknown>[]> {
  const base = await plainFolder();
  const path = join(base, "chunks.csv");
  await writeFile(path, `${csvText(false).head("chunks")}${text}`);
  const rows: Record<string, unknown>[] = [];
  const options = { ...duckDbOptions(base), memory: "50MB" };
  for await (const lines of readRows("chunks", { paths: [path], longestLine: 1 }, options))
    for (const line of lines) rows.push(JSON.parse(line));
  return rows;
}

const textOf = (...rows: readonly ReturnType<typeof chunk>[]) => `${csvText(false).texts("chunks", rows).join("\n")}\n`;

test.runIf(inFull)("long rows need no more memory than one of them, even if they span many pieces", async () => {
  const long = `"a",\n${"漢字 ".repeat(1_500_000)}`;
  const rows = [chunk("a", "1", { content: long }), chunk("a", "2", { content: "" }), chunk("b", "3")];
  expect(await read(textOf(...rows))).toEqual(rows);
});

test.each([
  ["quotes that do not close", textOf(chunk("a", "1")).replace("text of 1", '"text of 1'), /^row 1 /],
  ["text behind closing quotes", `${textOf(chunk("a", "1"))}"x"y,\n`, "row 2 is not valid CSV at character 1"],
  ["too few cells", `${textOf(chunk("a", "1"))}x,y\n`, "row 2 has 2 cells instead of 28"],
])("%s are an error that names the row", async (_what, text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});
