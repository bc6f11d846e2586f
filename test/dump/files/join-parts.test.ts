import { createHash } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprint, joinParts } from "../../../src/dump/files/join-parts.js";
import { joinJsonl } from "../../../src/dump/formats/jsonl/write.js";
import { plainFolder } from "../formats/folder.js";
import { writtenPart } from "../formats/stage.js";

async function joined(folder: string, head: string, parts: readonly Uint8Array[]) {
  const files = await Promise.all(
    parts.map((part, at) => writtenPart(join(folder, `${at}.part`), "chunks", "jsonl", part)),
  );
  const target = join(folder, "joined");
  const { text: facts } = await joinParts(target, head, files);
  return { facts, bytes: await readFile(target), target, files };
}

/** Bytes with many ends of lines, some of them next to each other and at the seams. */
const bytes = fc.uint8Array({ maxLength: 60 }).map((some) => some.map((byte) => (byte % 5 === 0 ? 10 : byte)));

describe("joinParts", () => {
  it("writes the head and the parts, and counts what it wrote, however they are split", async () => {
    const folder = await plainFolder();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("", "a,b\n", "x"), fc.array(bytes, { maxLength: 6 }), async (head, parts) => {
        const all = Buffer.concat([Buffer.from(head), ...parts]);
        const { facts, bytes: written } = await joined(folder, head, parts);
        expect(written.equals(all)).toBe(true);
        const lines = all.toString("latin1").split("\n");
        expect(facts).toMatchObject({
          bytes: all.length,
          sha256: createHash("sha256").update(all).digest("hex"),
          lines: lines.length - 1,
          longestLine: Math.max(0, ...lines.slice(0, -1).map((line) => line.length)),
        });
      }),
      { numRuns: 150 },
    );
  });

  it("counts lines that are longer than the pieces it reads", async () => {
    const line = (length: number) => `${"x".repeat(length)}\n`;
    const parts = [line(1 << 20), line(3_000_001) + line(2), "x".repeat(1_500_000), line(1_700_000)].map((text) =>
      Buffer.from(text),
    );
    const { facts } = await joined(await plainFolder(), "", parts);
    expect(facts).toMatchObject({ lines: 4, longestLine: 3_200_000 });
  });

  it("gives a part that is the whole file a second name, and writes nothing twice", async () => {
    const folder = await plainFolder();
    const { files, target } = await joined(folder, "", [Buffer.from("one\n")]);
    expect((await stat(target)).ino).toBe((await stat(files[0]?.path ?? "")).ino);
    const headed = await joined(folder, "head\n", [Buffer.from("one\n")]);
    expect((await stat(headed.target)).nlink).toBe(1);
  });

  it("replaces what was there, for its owner alone", async () => {
    const folder = await plainFolder();
    await joined(folder, "", [Buffer.from("a longer "), Buffer.from("text\n")]);
    const { bytes: written, target } = await joined(folder, "", [Buffer.from("b"), Buffer.from("\n")]);
    expect(written.toString()).toBe("b\n");
    expect((await stat(target)).mode & 0o777).toBe(0o600);
  });

  it("fails when a part is not there", async () => {
    const folder = await plainFolder();
    const { files } = await joined(folder, "", [Buffer.from("b\n")]);
    const gone = files.map((file) => ({ ...file, path: join(folder, "none") }));
    await expect(joinParts(join(folder, "joined"), "", gone)).rejects.toThrow("ENOENT");
    await expect(joinParts(join(folder, "joined"), "x", gone)).rejects.toThrow("ENOENT");
  });
});

it("fingerprint is that of the bytes", async () => {
  const path = join(await plainFolder(), "file");
  const bytes = Buffer.alloc(2_500_000, "é");
  await writeFile(path, bytes);
  expect(await fingerprint(path)).toEqual({
    bytes: 2_500_000,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  });
});

describe("joinJsonl", () => {
  it.each([0, 1, 3])("refuses a file of two lines when %d rows were written", async (rows) => {
    const folder = await plainFolder();
    const part = await writtenPart(join(folder, "part"), "chunks", "jsonl", Buffer.from("{}\n{}\n"));
    const table = { kind: "chunks", dataset: undefined, rows, parts: () => [part] } as const;
    await expect(joinJsonl(folder, table, "none")).rejects.toThrow(`chunks.jsonl has 2 lines for ${rows} rows`);
    expect(await joinJsonl(folder, { ...table, rows: 2 }, "none")).toMatchObject({
      text: { lines: 2, longestLine: 2 },
    });
  });
});
