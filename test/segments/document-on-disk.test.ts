import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { jsonlText } from "../../src/dump/formats/jsonl.js";
import { text } from "../../src/schema.js";
import { DocumentOnDisk } from "../../src/segments/document-on-disk.js";
import { testFolder } from "../run/job-for.js";

test.each([0, 1, 2, 3, 4])("rows that are due %i turns after a flush started come after its rows", async (turns) => {
  const folder = await testFolder();
  const openStore = () => new DocumentOnDisk<number, string>(folder, "1", [jsonlText]);
  const store = openStore();
  const add = (id: number) => store.add("chunks", [{ id }], id);
  const rows = Array.from({ length: 9 }, (_, id) => id);
  const [first = 0, ...others] = rows;
  await add(first);
  const flushed = store.flush();
  for (let turn = 0; turn < turns; turn++) await setImmediate();
  await Promise.all([...others.map(add), flushed]);
  await store.finish("whole");
  const written = await readFile(join(folder, "1.chunks.jsonl"), "utf8");
  expect(written).toBe(rows.map((id) => `{"id":${id}}\n`).join(""));
  expect(await openStore().result(text)).toBe("whole");
});
