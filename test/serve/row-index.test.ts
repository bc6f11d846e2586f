import { open, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StopError } from "../../src/errors.js";
import { RowFile } from "../../src/serve/row-file.js";
import { RowIndex, RunTable } from "../../src/serve/row-index.js";
import { plainFolder } from "../dump/formats/folder.js";

async function indexOf(text: string, idColumn: "id" | "segment_id" = "id"): Promise<{ index: RowIndex; path: string }> {
  const path = join(await plainFolder(), "rows.jsonl");
  await writeFile(path, text);
  const handle = await open(path);
  onTestFinished(() => handle.close());
  const bytes = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 7 });
  return { index: await RowIndex.make(new RowFile("rows.jsonl", handle), idColumn, bytes), path };
}

const line = (document: string, id: string, more: object = {}) =>
  `${JSON.stringify({ dataset_id: "d", document_id: document, id, ...more })}\n`;
const key = (document: string, id: string) => ({ dataset: "d", document, id });

test("finds rows by document and by id, wherever the pieces of the file end", async () => {
  const odd = 'ö "\\ \u2028';
  const { index } = await indexOf(line("a", "1") + line("a", odd, { content: "漢😀" }) + line("b", "1"));
  expect(index.document("d", "a")).toMatchObject({ first: 0, end: 2 });
  expect(index.document("d", "b")).toMatchObject({ first: 2, end: 3 });
  expect(index.document("d", "c")).toMatchObject({ first: 0, end: 0 });
  expect(await index.rowsOf(key("a", odd))).toEqual({ first: 1, end: 2 });
  expect(await index.rowsOf(key("b", "1"))).toEqual({ first: 2, end: 3 });
  expect(await index.rowsOf(key("b", odd))).toBeUndefined();
  expect((await index.file.lines(1, 3)).map((text) => JSON.parse(text.toString()).id)).toEqual([odd, "1"]);
});

test("gives the rows of several ids, in the order that they are asked for", async () => {
  const rows = ["1", "1", "2", "4"].map((segment_id, at) =>
    JSON.stringify({ dataset_id: "d", document_id: "a", segment_id, id: `k${at}` }),
  );
  const { index } = await indexOf(`${rows.join("\n")}\n`, "segment_id");
  const found = await index.linesOf(["4", "3", "1", "2"].map((id) => key("a", id)));
  expect(found.map(({ first, lines }) => [first, lines.map(String)])).toEqual([
    [3, [rows[3]]],
    [0, []],
    [0, [rows[0], rows[1]]],
    [2, [rows[2]]],
  ]);
});

test("rows in another form than kbdump writes are found, too", async () => {
  const long = "x".repeat(1000);
  const spaced = `{ "id": "2", "document_id": "a", "dataset_id": "d" }\n`;
  const { index } = await indexOf(line("a", long) + spaced + line("\\ud83d\\ude00".repeat(1), "\u0000"));
  expect(await index.rowsOf(key("a", long))).toEqual({ first: 0, end: 1 });
  expect(await index.rowsOf(key("a", "2"))).toEqual({ first: 1, end: 2 });
  expect(await index.rowsOf(key("\\ud83d\\ude00", "\u0000"))).toEqual({ first: 2, end: 3 });
});

test.each([
  [
    "an id twice, one behind the other",
    line("a", "1") + line("a", "1"),
    "row 2, of chunk 1 of document a, stands apart or a second time",
  ],
  [
    "an id twice",
    line("a", "1") + line("a", "2") + line("a", "1"),
    "row 3, of chunk 1 of document a, stands apart or a second time",
  ],
  [
    "a document in two places",
    line("a", "1") + line("b", "1") + line("a", "2"),
    "row 3 stands apart from the others of document a",
  ],
  ["no JSON", `${line("a", "1")}{"id"\n`, "row 2 is no JSON object"],
  ["an empty line", `${line("a", "1")}\n`, "row 2 is no JSON object"],
  [
    "a row without an id",
    `${line("a", "1")}{"dataset_id":"d","document_id":"a","id":null}\n`,
    "row 2 has no dataset_id, document_id and id",
  ],
])("%s is an error that names the row", async (_what, text, message) => {
  await expect(indexOf(text)).rejects.toThrow(new StopError(`rows.jsonl: ${message}; kbdump verify tells more`));
});

test("a file that is cut off while it is read is an error, not half a row", async () => {
  const { index, path } = await indexOf(line("a", "1") + line("a", "2"));
  await truncate(path, line("a", "1").length + 5);
  await expect(index.file.lines(1, 2)).rejects.toThrow("rows.jsonl has been cut off since it was opened");
  expect(await index.file.lines(0, 1)).toHaveLength(1);
});

test("100,000 keys are found again, and hashes that collide are reported", () => {
  const table = new RunTable();
  const id = (at: number) => `${(at * 2654435761) >>> 0}-${at}`;
  for (let at = 0; at < 100_000; at++) table.add(key(`${at % 10}`, id(at)), at);
  for (const [one, other] of table.finish()) expect(one).toBeLessThan(other);
  let most = 0;
  for (let at = 0; at < 100_000; at++) {
    const found = [...table.find(key(`${at % 10}`, id(at)))];
    most = Math.max(most, found.length);
    if (!found.includes(at)) expect.fail(`${at} is not found`);
  }
  expect(most).toBeLessThan(4);
  expect([...table.find(key("10", id(0)))]).toEqual([]);

  const twice = new RunTable();
  for (const at of [0, 1, 2]) twice.add(key("a", String(at % 2)), at);
  expect([...twice.finish()]).toEqual([[0, 2]]);
  expect([...twice.find(key("a", "0"))]).toEqual([0, 2]);
  expect([...new RunTable().find(key("a", "0"))]).toEqual([]);
});
