import { mkdir, mkdtemp, open, readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { jsonlText } from "../../src/dump/formats/jsonl.js";
import { RangeReader } from "../../src/files/lines.js";
import { text } from "../../src/schema.js";
import { DocumentOnDisk } from "../../src/segments/document-on-disk.js";
import { journalFile, namesOfBegun, type SharedResult, SharedSegments } from "../../src/segments/shared-segments.js";
import { inFull, rounds } from "../rounds.js";
import { testFolder } from "../run/job-for.js";

/** The segments of a document: by kind and format, its rows. */
type Parts = Readonly<Record<string, readonly string[]>>;
/** Documents by name. */
type Documents = ReadonlyMap<string, Parts>;

const [chunks, children] = ["chunks.jsonl", "child_chunks.csv"];
const resultOf = (name: string) => `the result of ${name}`;
const textOf = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join("");

/** Adds the documents in order, `atOnce` of them at the same time. */
async function addAll(shared: SharedSegments<string>, documents: Documents, atOnce = 1): Promise<void> {
  const left = documents.entries();
  const added: (readonly [Parts, SharedResult<string>["files"]])[] = [];
  const workers = Array.from({ length: atOnce }, async () => {
    for (const [name, segments] of left) {
      const texts = new Map(Object.entries(segments).map(([segment, rows]) => [`${name}.${segment}`, rows]));
      added.push([segments, await shared.add({ name, state: resultOf(name), texts })]);
    }
  });
  await Promise.all(workers);
  for (const [segments, files] of added) expect(await readBack(files)).toEqual(textsOf(segments));
}

const textsOf = (segments: Parts) => Object.entries(segments).map(([segment, rows]) => [segment, textOf(rows)]);

async function readBack(files: SharedResult<string>["files"]): Promise<readonly (readonly string[])[]> {
  const ranges = new RangeReader();
  const read: (readonly string[])[] = [];
  for (const range of files) {
    let rows = "";
    for await (const piece of ranges.pieces(range)) rows += piece.toString("latin1");
    expect(range).toMatchObject({ bytes: rows.length, lines: rows.split("\n").length - 1 });
    read.push([`${range.kind}.${range.format}`, rows]);
  }
  await ranges.close();
  return read;
}

/** The documents that a process finds complete in a folder. It adds the missing ones, and the next process must find all. */
async function resume(folder: string, documents: Documents): Promise<readonly string[]> {
  const first = await SharedSegments.open(folder, text);
  const found = [...documents.keys()].filter((name) => first.found(name));
  await addAll(first, new Map([...documents].filter(([name]) => !found.includes(name))));
  await first.close();
  const second = await SharedSegments.open(folder, text);
  for (const [name, segments] of documents) {
    expect(second.found(name)?.state, name).toBe(resultOf(name));
    expect(await readBack(second.found(name)?.files ?? []), name).toEqual(textsOf(segments));
  }
  await second.close();
  return found;
}

async function written(documents: Documents, atOnce?: number): Promise<string> {
  const folder = await testFolder();
  const shared = await SharedSegments.open(folder, text);
  await addAll(shared, documents, atOnce);
  await shared.close();
  return folder;
}

/** Returns a function that makes copies of a folder. */
async function copiesOf(folder: string): Promise<() => Promise<string>> {
  const names = await readdir(folder);
  const files = await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const));
  const above = await testFolder();
  return async () => {
    const copy = await mkdtemp(join(above, "copy-"));
    for (const [name, bytes] of files) await writeFile(join(copy, name), bytes);
    return copy;
  };
}

const three: Documents = new Map([
  ["0000001", { [chunks]: ["a", "bc"], [children]: ["d"] }],
  ["0000002", {}],
  ["0000003", { [chunks]: ["e"] }],
]);

/** The distance in bytes between two places where the journal is cut. */
const step = rounds(7, 1);

test.runIf(inFull)(
  "the journal cut off at any byte: documents with a whole line are found, and the others are read again",
  async () => {
    const folder = await written(three);
    const journal = await readFile(join(folder, journalFile), "utf8");
    const nextCopy = await copiesOf(folder);
    for (let bytes = 0; bytes <= journal.length; bytes += step) {
      const copy = await nextCopy();
      await truncate(join(copy, journalFile), bytes);
      const whole = [...three.keys()].filter((name) => {
        const end = journal.indexOf("\n", journal.indexOf(`"${name}"`));
        return end <= bytes;
      });
      expect(await resume(copy, three), `${bytes} bytes`).toEqual(whole);
    }
  },
);

test.runIf(inFull)(
  "a segment cut off at any byte, as by a power cut: documents with all their rows are found",
  async () => {
    const nextCopy = await copiesOf(await written(three));
    for (const [segment, ends] of [
      [chunks, { "0000001": 5, "0000003": 7 }],
      [children, { "0000001": 2 }],
    ] as const) {
      for (let bytes = 0; bytes <= 7; bytes++) {
        const copy = await nextCopy();
        await truncate(join(copy, `shared.${segment}`), bytes).catch(() => {});
        const whole = [...three.keys()].filter((name) => bytes >= (new Map(Object.entries(ends)).get(name) ?? 0));
        expect(await resume(copy, three), `${segment}, ${bytes} bytes`).toEqual(whole);
      }
    }
  },
);

test("changed bytes in a segment cause its document, and no other, to be read again", async () => {
  const folder = await written(three);
  const segment = await open(join(folder, `shared.${chunks}`), "r+");
  await segment.write("\0", 6);
  await segment.close();
  expect(await resume(folder, three)).toEqual(["0000001", "0000002"]);
});

test("a journal line without a file of rows causes its document, and no other, to be read again", async () => {
  const folder = await written(three);
  const path = join(folder, journalFile);
  const journal = await readFile(path, "utf8");
  for (const file of ["shared.chunkz.jsonl", "shared", journalFile]) {
    await writeFile(path, journal.replace(`shared.${chunks}`, file));
    expect(await resume(folder, three), file).toEqual(["0000002", "0000003"]);
  }
});

test.runIf(inFull)(
  "after a kill or power cut at any point, every document found is whole, and the rest is read again",
  async () => {
    const rows = fc.array(fc.stringMatching(/^[a-z]{0,9}$/), { minLength: 1, maxLength: 4 });
    const segments = fc.dictionary(fc.constantFrom(chunks, children), rows);
    const drawn = fc.record({
      documents: fc.array(segments, { minLength: 1, maxLength: 12 }),
      atOnce: fc.integer({ min: 1, max: 5 }),
      cuts: fc.array(fc.record({ file: fc.nat(), at: fc.double({ min: 0, max: 1, noNaN: true }) }), { maxLength: 3 }),
      torn: fc.constantFrom("", '{"name":"0000001","st', "\0\0\0"),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ documents, atOnce, cuts, torn }) => {
        const all: Documents = new Map(documents.map((segments, at) => [String(at + 1).padStart(7, "0"), segments]));
        const folder = await written(all, atOnce);
        const files = await readdir(folder);
        for (const { file, at } of cuts) {
          const path = join(folder, files[file % files.length] ?? "");
          const { length } = await readFile(path);
          await truncate(path, Math.round(at * length));
          await writeFile(path, torn, { flag: "a" });
        }
        const found = await resume(folder, all);
        if (cuts.length === 0) expect(found).toEqual([...all.keys()]);
      }),
      { numRuns: rounds(40, 2_000) },
    );
  },
);

test("a planted link is not written through", async () => {
  const folder = await testFolder();
  await writeFile(join(folder, "mine"), "mine");
  await symlink(join(folder, "mine"), join(folder, `shared.${chunks}`));
  const shared = await SharedSegments.open(folder, text);
  await expect(addAll(shared, three)).rejects.toThrow("ELOOP");
  await shared.close();
  expect(await readFile(join(folder, "mine"), "utf8")).toBe("mine");
});

test("after an error, which may have torn a write, nothing more is written, and adding a document fails", async () => {
  const folder = await testFolder();
  const shared = await SharedSegments.open(folder, text);
  await mkdir(join(folder, journalFile));
  await expect(addAll(shared, three)).rejects.toThrow("EISDIR");
  await expect(addAll(shared, three)).rejects.toThrow("EISDIR");
  await shared.close();
  expect(await readFile(join(folder, `shared.${chunks}`), "utf8")).toBe("a\nbc\n");
});

test("a document goes to the shared files if all of its rows still wait, or else gets its own files", async () => {
  const folder = await testFolder();
  const shared = await SharedSegments.open(folder, text);
  const store = (name: string) => new DocumentOnDisk<number, string>(folder, name, [jsonlText]);
  const [small, large] = [store("0000001"), store("0000002")];
  for (const document of [small, large]) await document.add("chunks", [{ id: "a" }], 1);
  small.keepAside(["children"]);
  for (let page = 0; page < 8; page++) await large.add("chunks", [{ id: "b" }], page);
  const [together, alone] = await Promise.all([small.finish("small", shared), large.finish("large", shared)]);
  await shared.close();
  expect(together).toMatchObject([{ kind: "chunks", format: "jsonl", start: 0, lines: 1 }]);
  expect(alone).toMatchObject([{ kind: "chunks", path: join(folder, "0000002.chunks.jsonl"), lines: 9 }]);
  const files = ["0000002.chunks.jsonl", "0000002.result.json", `shared.${chunks}`, journalFile];
  expect((await readdir(folder)).sort()).toEqual(files.sort());
  expect(await namesOfBegun(folder)).toEqual(new Set(["0000001", "0000002"]));
});

test("a document that lost rows in a failed write does not become complete", async () => {
  const folder = await testFolder();
  const shared = await SharedSegments.open(folder, text);
  const store = new DocumentOnDisk<number, string>(folder, "0000001", [jsonlText]);
  vi.spyOn(Buffer, "allocUnsafeSlow").mockImplementationOnce(() => {
    throw new RangeError("Array buffer allocation failed");
  });
  for (let page = 0; page < 8; page++) await store.add("chunks", [{ id: "a" }], page);
  await expect(store.finish("whole", shared)).rejects.toThrow("Array buffer allocation failed");
  await Promise.all([store.leave(), shared.close()]);
  expect(await readdir(folder)).toEqual([]);
});
