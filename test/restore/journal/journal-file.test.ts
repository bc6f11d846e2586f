import { mkdir, readdir, readFile, rmdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it, onTestFinished } from "vitest";
import { LostError, StopError } from "../../../src/errors.js";
import { JournalFile, setAside } from "../../../src/restore/journal/journal-file.js";
import { cutTornLine, readLines } from "../../../src/restore/journal/read-lines.js";
import { testFolder } from "../../run/job-for.js";

const schema = v.object({ step: v.string("a text") });

async function pathIn(): Promise<string> {
  return join(await testFolder(), "moves.jsonl");
}

function openJournalFile(path: string, checkOwn?: () => Promise<void>): JournalFile {
  const file = new JournalFile(path, checkOwn);
  onTestFinished(() => file.close());
  return file;
}

describe("a journal file", () => {
  it("is made with its first line, for nobody else to read, and gives its lines back in order", async () => {
    const path = await pathIn();
    const file = openJournalFile(path);
    expect(await readLines(path, schema)).toEqual([]);
    const lines = Array.from({ length: 20 }, (_, at) => ({ step: `${at} ü\n` }));
    await Promise.all(lines.map((line) => file.append(line)));
    expect(await readLines(path, schema)).toEqual(lines);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("has a line on disk when the promise resolves, behind those that are there", async () => {
    const path = await pathIn();
    await writeFile(path, '{"step":"a"}\n');
    const file = openJournalFile(path);
    await file.append({ step: "b" });
    expect(await readFile(path, "utf8")).toBe('{"step":"a"}\n{"step":"b"}\n');
    await file.append({ step: "c" });
    expect(await readFile(path, "utf8")).toBe('{"step":"a"}\n{"step":"b"}\n{"step":"c"}\n');
  });

  it("looks before every line whether another process took its place", async () => {
    const path = await pathIn();
    let looks = 0;
    const file = openJournalFile(path, async () => {
      if (++looks > 1) throw new LostError("replaced");
    });
    await file.append({ step: "a" });
    await expect(file.append({ step: "b" })).rejects.toThrow(LostError);
    await expect(file.append({ step: "c" })).rejects.toThrow(LostError);
    expect([looks, await readLines(path, schema)]).toEqual([3, [{ step: "a" }]]);
  });

  it("takes no line behind one that the disk did not take: the file would be damaged in its middle", async () => {
    const path = await pathIn();
    await mkdir(path);
    const file = openJournalFile(path);
    await expect(file.append({ step: "a" })).rejects.toThrow(StopError);
    await rmdir(path);
    await expect(file.append({ step: "b" })).rejects.toThrow("the journal cannot be written");
    expect(await readLines(path, schema)).toEqual([]);
  });

  it("that cannot be written stops everything", async () => {
    const path = await pathIn();
    await mkdir(path);
    const file = openJournalFile(path);
    await expect(file.append({ step: "a" })).rejects.toThrow(StopError);
    await expect(file.append({ step: "b" })).rejects.toThrow(
      "moves.jsonl: the journal cannot be written: it is a folder",
    );
  });

  it("ends with its last line", async () => {
    const path = await pathIn();
    const file = new JournalFile(path);
    const last = file.append({ step: "a" });
    await file.close();
    await last;
    expect(await readLines(path, schema)).toEqual([{ step: "a" }]);
  });

  it("that ended is kept under its name and time", async () => {
    const path = await pathIn();
    await writeFile(path, "x");
    await setAside(path, "2026-03-01T02:00:00.123Z");
    expect(await readdir(join(path, ".."))).toEqual(["moves-20260301T020000123Z.jsonl"]);
  });
});

describe("the lines of a journal", () => {
  it("are those that were whole when a process ended, wherever that was", async () => {
    const path = await pathIn();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" })), fc.nat(), async (steps, cut) => {
        const lines = steps.map((step) => `${JSON.stringify({ step })}\n`);
        const bytes = Buffer.from(lines.join(""));
        const length = cut % (bytes.length + 1);
        await writeFile(path, bytes.subarray(0, length));
        const ends = lines.map((_, at) => Buffer.byteLength(lines.slice(0, at + 1).join("")));
        const whole = ends.filter((end) => end <= length).length;
        expect(await readLines(path, schema)).toEqual(steps.slice(0, whole).map((step) => ({ step })));
        expect((await stat(path)).size).toBe(length);
        await cutTornLine(path);
        expect((await stat(path)).size).toBe(ends[whole - 1] ?? 0);
      }),
      { numRuns: 50 },
    );
  });

  it("need no file", async () => {
    const path = await pathIn();
    await cutTornLine(path);
    expect([await readLines(path, schema), await readdir(join(path, ".."))]).toEqual([[], []]);
  });

  it.each([
    ["no JSON", /moves\.jsonl:2: the journal is damaged: got "no JSON"/],
    [
      '{"step":1}',
      /moves\.jsonl:2: the journal is damaged: step: got 1, expected a text; compare the documents by hand/,
    ],
  ])("that are damaged are refused: %s", async (line, message) => {
    const path = await pathIn();
    await writeFile(path, `{"step":"a"}\n${line}\n`);
    await expect(readLines(path, schema)).rejects.toThrow(message);
    await expect(readLines(path, schema)).rejects.toThrow(StopError);
  });
});
