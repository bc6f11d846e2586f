import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, readlink, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinJsonl } from "../../src/dump/formats/jsonl.js";
import { endingOf } from "../../src/files/compression.js";
import { fingerprint, joinSegments } from "../../src/files/join-segments.js";
import { readTextPieces } from "../../src/files/lines.js";
import { plainFolder } from "../dump/formats/folder.js";
import { writtenPart } from "../dump/formats/stage.js";
import { inFull } from "../rounds.js";
import { canMount, tinyDisk } from "../run/tiny-disk.js";

const compressions = ["gzip", "zstd"] as const;

async function joined(folder: string, head: string, segments: readonly Uint8Array[]) {
  const files = await Promise.all(
    segments.map((segment, at) => writtenPart(join(folder, `${at}.part`), "chunks", "jsonl", segment)),
  );
  const target = join(folder, "joined");
  const { text: facts } = await joinSegments(target, head, files);
  return { facts, bytes: await readFile(target), target, files };
}

/** Random bytes with many line ends, some of them adjacent or at segment borders. */
const bytes = fc.uint8Array({ maxLength: 60 }).map((some) => some.map((byte) => (byte % 5 === 0 ? 10 : byte)));

describe("joinSegments", () => {
  it.runIf(inFull)("writes the head and the segments and counts its output, however they are split", async () => {
    const folder = await plainFolder();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("", "a,b\n", "x"), fc.array(bytes, { maxLength: 6 }), async (head, segments) => {
        const all = Buffer.concat([Buffer.from(head), ...segments]);
        const { facts, bytes: written } = await joined(folder, head, segments);
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

  it.runIf(inFull)("counts lines that are longer than the pieces it reads", async () => {
    const line = (length: number) => `${"x".repeat(length)}\n`;
    const segments = [line(1 << 20), line(3_000_001) + line(2), "x".repeat(1_500_000), line(1_700_000)].map((text) =>
      Buffer.from(text),
    );
    const { facts } = await joined(await plainFolder(), "", segments);
    expect(facts).toMatchObject({ lines: 4, longestLine: 3_200_000 });
  });

  it("hard-links a segment that is the whole file, and writes nothing twice", async () => {
    const folder = await plainFolder();
    const { files, target } = await joined(folder, "", [Buffer.from("one\n")]);
    expect((await stat(target)).ino).toBe((await stat(files[0]?.path ?? "")).ino);
    const headed = await joined(folder, "head\n", [Buffer.from("one\n")]);
    expect((await stat(headed.target)).nlink).toBe(1);
  });

  it("replaces an existing file, readable only by its owner", async () => {
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
    await expect(joinSegments(join(folder, "joined"), "", gone)).rejects.toThrow("ENOENT");
    await expect(joinSegments(join(folder, "joined"), "x", gone)).rejects.toThrow("ENOENT");
  });
});

describe.each(compressions)("joinParts with %s", (compression) => {
  /** Segments to join, and the target. */
  async function given(segments: readonly Uint8Array[]) {
    const folder = await plainFolder();
    const files = await Promise.all(
      segments.map((segment, at) => writtenPart(join(folder, `${at}.part`), "chunks", "jsonl", segment)),
    );
    return { folder, files, target: join(folder, `joined${endingOf(compression)}`) };
  }

  it.runIf(inFull)("writes a file whose text is the head and the parts, and has the facts of both", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("", "a,b\n"), fc.array(bytes, { maxLength: 6 }), async (head, segments) => {
        const { files, target } = await given(segments);
        const made = await joinSegments(target, head, files, { compression });
        const text: Buffer[] = [];
        for await (const piece of readTextPieces(target)) text.push(piece);
        const all = Buffer.concat([Buffer.from(head), ...segments]);
        expect(Buffer.concat(text).equals(all)).toBe(true);
        expect(made).toMatchObject(await fingerprint(target));
        expect(made.text).toMatchObject({
          bytes: all.length,
          sha256: createHash("sha256").update(all).digest("hex"),
          lines: all.filter((byte) => byte === 10).length,
        });
      }),
      { numRuns: 40 },
    );
  });

  it("ends at the next piece when its signal is aborted, and leaves no file open", async () => {
    const { folder, files, target } = await given([Buffer.from("x")]);
    await truncate(files[0]?.path ?? "", 1 << 30); // a sparse file uses no disk space
    const signal = AbortSignal.timeout(50);
    const outcome = await joinSegments(target, "head\n", files, { compression, signal }).catch(
      (error: unknown) => error,
    );
    expect(signal.aborted).toBe(true);
    expect(outcome).toBe(signal.reason);
    expect((await stat(target)).size).toBeLessThan(1 << 20);
    expect(await openFilesIn(folder)).toEqual([]);
  });

  it("fails when a part is not there or shorter than it was, and leaves no file open", async () => {
    const { folder, files, target } = await given([randomBytes(300_000), randomBytes(300_000)]);
    const options = { compression };
    await expect(
      joinSegments(target, "", [...files, ...files.map((file) => ({ ...file, path: join(folder, "none") }))], options),
    ).rejects.toThrow("ENOENT");
    const longer = files.map((file) => ({ ...file, start: 10 }));
    await expect(joinSegments(target, "", longer, options)).rejects.toThrow("0.part ends 10 bytes too early");
    expect(await openFilesIn(folder)).toEqual([]);
  });

  it.runIf(canMount)("fails with the error of a full disk, and leaves no file open", async () => {
    const { folder, files } = await given([randomBytes(400_000), randomBytes(400_000)]);
    const disk = await tinyDisk(folder, 200);
    const joining = joinSegments(join(disk.path, "joined"), "", files, { compression });
    await expect(joining).rejects.toMatchObject({ code: "ENOSPC" });
    expect(await openFilesIn(folder)).toEqual([]);
  });
});

/** The open files of this process below a folder, if the system can list them. */
async function openFilesIn(folder: string): Promise<readonly string[]> {
  if (process.platform !== "linux") return [];
  const numbers = await readdir("/proc/self/fd");
  const paths = await Promise.all(numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => "")));
  return paths.filter((path) => path.startsWith(folder));
}

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
    const segment = await writtenPart(join(folder, "part"), "chunks", "jsonl", Buffer.from("{}\n{}\n"));
    const table = { kind: "chunks", dataset: undefined, rows, segments: () => [segment] } as const;
    await expect(joinJsonl(folder, table, {})).rejects.toThrow(`chunks.jsonl has 2 lines for ${rows} rows`);
    expect(await joinJsonl(folder, { ...table, rows: 2 }, {})).toMatchObject({
      text: { lines: 2, longestLine: 2 },
    });
  });
});
