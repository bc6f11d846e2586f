import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readTextPieces, splitLines } from "../../src/files/lines.js";
import { plainFolder } from "../dump/formats/folder.js";
import { inFull } from "../rounds.js";

const readRecords = (path: string) => splitLines(readTextPieces(path), { quoted: true });

async function recordsOf(text: string): Promise<readonly string[]> {
  const path = join(await plainFolder(), "text");
  await writeFile(path, text);
  const records: string[] = [];
  for await (const some of readRecords(path)) records.push(...some.map((record) => record.toString()));
  return records;
}

test.each([
  ["", []],
  ["\n", [""]],
  ["a", ["a"]],
  ["a\n", ["a"]],
  ["a\n\nb\r\n", ["a", "", "b\r"]],
  ['"a\nb"\n"c""\n""d"\n', ['"a\nb"', '"c""\n""d"']],
  ['"a\nb\n', ['"a\nb\n']],
])("%j of CSV", async (text, records) => {
  expect(await recordsOf(text)).toEqual(records);
});

test("in JSONL, every line feed ends a record", async () => {
  const records: string[] = [];
  for await (const some of splitLines(Readable.from([Buffer.from('"a\nb"\n\u2028\n')])))
    records.push(...some.map(String));
  expect(records).toEqual(['"a', 'b"', "\u2028"]);
});

test.runIf(inFull)("records across two pieces, and one across several pieces", async () => {
  const megabyte = 1 << 20;
  const texts = [
    "x".repeat(megabyte - 3),
    '"ab\ncd"',
    "é".repeat(megabyte),
    `"${"\n".repeat(3 * megabyte)}"`,
    "y".repeat(megabyte - 1),
    "z",
  ];
  expect(await recordsOf(texts.map((text) => `${text}\n`).join(""))).toEqual(texts);
});

test.runIf(inFull)("a record without an end is not read into memory", async () => {
  const path = join(await plainFolder(), "text");
  await writeFile(path, Buffer.alloc(300 << 20, "x"));
  const read = async () => {
    for await (const _records of readRecords(path));
  };
  await expect(read()).rejects.toThrow("a row is longer than 256 MB");
});

test("a symlink is not followed", async () => {
  const folder = await plainFolder();
  await writeFile(join(folder, "text"), "a\n");
  await symlink(join(folder, "text"), join(folder, "link"));
  await expect(readRecords(join(folder, "link")).next()).rejects.toThrow("ELOOP");
});
