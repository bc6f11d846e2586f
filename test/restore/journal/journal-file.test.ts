import { execFileSync } from "node:child_process";
import { link, mkdir, readdir, readFile, rmdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it, onTestFinished } from "vitest";
import { LostError, StopError } from "../../../src/errors.js";
import { JournalFile, readJournal, setAside } from "../../../src/restore/journal-file.js";
import { testFolder } from "../../run/job-for.js";

const schema = v.variant("kind", [
  v.object({ kind: v.literal("begun"), run_id: v.string() }),
  v.object({ kind: v.literal("step"), step: v.string("a text") }),
]);
const begun = { kind: "begun", run_id: "ü" } as const;
const step = (text: string) => ({ kind: "step", step: text }) as const;
const textOf = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

async function pathIn(): Promise<string> {
  return join(await testFolder(), "moves.jsonl");
}

async function readLines(path: string) {
  return (await readJournal(path, schema)).lines;
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
    expect(await readLines(path)).toEqual([]);
    const lines = [begun, ...Array.from({ length: 20 }, (_, at) => step(`${at} ü\n`))];
    await Promise.all(lines.map((line) => file.append(line)));
    expect(await readLines(path)).toEqual(lines);
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
    await file.append(begun);
    await expect(file.append(step("b"))).rejects.toThrow(LostError);
    await expect(file.append(step("c"))).rejects.toThrow(LostError);
    expect([looks, await readLines(path)]).toEqual([3, [begun]]);
  });

  it("takes no line behind one that the disk did not take: the file would be damaged in its middle", async () => {
    const path = await pathIn();
    await mkdir(path);
    const file = openJournalFile(path);
    await expect(file.append({ step: "a" })).rejects.toThrow(StopError);
    await rmdir(path);
    await expect(file.append({ step: "b" })).rejects.toThrow("the journal cannot be written");
    expect(await readLines(path)).toEqual([]);
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
    const last = file.append(begun);
    await file.close();
    await last;
    expect(await readLines(path)).toEqual([begun]);
  });

  it("that ended is kept under its name and time", async () => {
    const path = await pathIn();
    await writeFile(path, "x");
    await setAside(path, "2026-03-01T02:00:00.123Z");
    expect(await readdir(join(path, ".."))).toEqual(["moves-20260301T020000123Z.jsonl"]);
  });

  it("that ended takes the place of no other file, and stays in its folder whatever its time is", async () => {
    const path = await pathIn();
    await writeFile(path, "x");
    await writeFile(path.replace("moves", "moves-2"), "mine");
    await expect(setAside(path, "2/../..")).rejects.toThrow("moves-2.jsonl is there already");
    expect((await readdir(join(path, ".."))).sort()).toEqual(["moves-2.jsonl", "moves.jsonl"]);
  });

  it("is not written through a link", async () => {
    const path = await pathIn();
    await symlink(`${path}.mine`, path);
    await expect(openJournalFile(path).append(begun)).rejects.toThrow(/is a symbolic link, .* nothing more is sent/);
    expect(await readdir(join(path, ".."))).toEqual(["moves.jsonl"]);
  });
});

describe("the lines of a journal", () => {
  it("are those that were whole when a process ended, wherever that was", async () => {
    const path = await pathIn();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" })), fc.nat(), async (steps, cut) => {
        const lines = [begun, ...steps.map(step)];
        const bytes = Buffer.from(textOf(...lines));
        const length = cut % (bytes.length + 1);
        await writeFile(path, bytes.subarray(0, length));
        const ends = lines.map((_, at) => Buffer.byteLength(textOf(...lines.slice(0, at + 1))));
        const whole = ends.filter((end) => end <= length).length;
        const read = await readJournal(path, schema);
        expect(read.lines).toEqual(lines.slice(0, whole));
        expect((await stat(path)).size).toBe(length);
        await read.makeReady();
        expect((await stat(path)).size).toBe(ends[whole - 1] ?? 0);
      }),
      { numRuns: 50 },
    );
  });

  it("need no file", async () => {
    const path = await pathIn();
    const { lines, makeReady } = await readJournal(path, schema);
    await makeReady();
    expect([lines, await readdir(join(path, ".."))]).toEqual([[], []]);
  });

  it("that another process added since are not cut off", async () => {
    const path = await pathIn();
    await writeFile(path, `${textOf(begun)}{"torn`);
    const { makeReady } = await readJournal(path, schema);
    await writeFile(path, textOf(begun, step("of the other one")));
    await makeReady();
    expect(await readLines(path)).toHaveLength(2);
  });

  it.each([
    ["no JSON", /moves\.jsonl:2: the journal is damaged: got "no JSON"/],
    [
      '{"kind":"step","step":1}',
      /moves\.jsonl:2: the journal is damaged: step: got 1, expected a text; compare the documents by hand/,
    ],
  ])("that are damaged are refused: %s", async (line, message) => {
    const path = await pathIn();
    await writeFile(path, `${textOf(begun)}${line}\n`);
    await expect(readLines(path)).rejects.toThrow(message);
    await expect(readLines(path)).rejects.toThrow(StopError);
  });

  it.each([
    ["a note", "milk, bread"],
    ["a note of two lines", "milk\nbread"],
    ["zeros", "\0".repeat(40)],
    ["zeros behind the torn first line", `{"kind":"begun","run_id":"2026${"\0".repeat(40)}`],
    ["one blank line", "\n"],
    ["other JSON", '{"kind":"report","run_id":"1"}\n'],
    ["lines in reverse", textOf(step("a"), begun)],
    ["a first line without its facts", '{"kind":"begun"}\n'],
  ])("are in no other file: %s is refused, and not touched", async (_, text) => {
    const path = await pathIn();
    await writeFile(path, text);
    await expect(readLines(path)).rejects.toThrow(StopError);
    await expect(readLines(path)).rejects.toThrow(`${path} is not a kbdump journal`);
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it.each([
    ["a link", "a symbolic link, which is not followed", async (path: string) => symlink(`${path}.mine`, path)],
    ["a folder", "a folder, not a file; remove it or move it away", async (path: string) => mkdir(path)],
    ["a named pipe", "a named pipe, not a file", async (path: string) => execFileSync("mkfifo", [path])],
  ])("are in a file: %s in its place is refused", async (_, what, make) => {
    const path = await pathIn();
    await make(path);
    await expect(readLines(path)).rejects.toThrow(`${path} is ${what}`);
    expect(await readdir(join(path, ".."))).toEqual(["moves.jsonl"]);
  });

  it("are read of a hard link, as copies that save space are, but none is added", async () => {
    const path = await pathIn();
    const text = `${textOf(begun)}{"torn`;
    await writeFile(`${path}.mine`, text);
    await link(`${path}.mine`, path);
    const { lines, makeReady } = await readJournal(path, schema);
    expect(lines).toEqual([begun]);
    await expect(makeReady()).rejects.toThrow(`${path} has other hard links`);
    expect(await readFile(path, "utf8")).toBe(text);
  });
});
