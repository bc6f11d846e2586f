import { execFileSync } from "node:child_process";
import { link, mkdir, readdir, readFile, rmdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { LostError, StopError } from "../../src/errors.js";
import { JournalFile, readJournal } from "../../src/journal/journal-file.js";
import { inFull } from "../rounds.js";
import { testFolder } from "../run/job-for.js";
import { journalText } from "./journal-text.js";

const begun = { kind: "begun", run_id: "ü", base_url: "", undo: null, time: "" } as const;
const step = (id: string) => ({ kind: "given up", id, time: "" }) as const;

async function pathIn(): Promise<string> {
  return join(await testFolder(), "moves.jsonl");
}

async function readLines(path: string) {
  return (await readJournal(path)).lines;
}

function openJournalFile(path: string, checkOwn = async () => {}): JournalFile {
  const file = new JournalFile(path, { checkOwn });
  onTestFinished(() => file.close());
  return file;
}

describe("a journal file", () => {
  it("is created with its first line, readable only by its owner, and returns its lines in order", async () => {
    const path = await pathIn();
    const file = openJournalFile(path);
    expect(await readLines(path)).toEqual([]);
    const lines = [begun, ...Array.from({ length: 20 }, (_, at) => step(`${at} ü\n`))];
    await Promise.all(lines.map((line) => file.append(line)));
    expect(await readLines(path)).toEqual(lines);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("has a line on disk, after the existing ones, when the promise resolves", async () => {
    const path = await pathIn();
    await writeFile(path, journalText(begun, step("a")));
    const file = await (await readJournal(path)).open(async () => {});
    onTestFinished(() => file.close());
    await file.append(step("b"));
    expect(await readFile(path, "utf8")).toBe(journalText(begun, step("a"), step("b")));
    await file.append(step("c"));
    expect(await readFile(path, "utf8")).toBe(journalText(begun, step("a"), step("b"), step("c")));
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

  it("accepts no line after one that failed to reach the disk: the file would be damaged in the middle", async () => {
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
    const file = new JournalFile(path, { checkOwn: async () => {} });
    const last = file.append(begun);
    await file.close();
    await last;
    expect(await readLines(path)).toEqual([begun]);
  });

  it("is not written through a link", async () => {
    const path = await pathIn();
    await symlink(`${path}.mine`, path);
    await expect(openJournalFile(path).append(begun)).rejects.toThrow(/is a symbolic link, .* nothing more is sent/);
    expect(await readdir(join(path, ".."))).toEqual(["moves.jsonl"]);
  });
});

describe("the lines of a journal", () => {
  it.runIf(inFull)("are those that were whole when a process ended, wherever that was", async () => {
    const path = await pathIn();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" })), fc.nat(), async (steps, cut) => {
        const lines = [begun, ...steps.map(step)];
        const bytes = Buffer.from(journalText(...lines));
        const length = cut % (bytes.length + 1);
        await writeFile(path, bytes.subarray(0, length));
        const ends = lines.map((_, at) => Buffer.byteLength(journalText(...lines.slice(0, at + 1))));
        const whole = ends.filter((end) => end <= length).length;
        const read = await readJournal(path);
        expect(read.lines).toEqual(lines.slice(0, whole));
        expect((await stat(path)).size).toBe(length);
        const file = await read.open(async () => {});
        expect((await stat(path)).size).toBe(ends[whole - 1] ?? 0);
        for (const line of lines.slice(whole)) await file.append(line);
        await file.close();
        expect(await readFile(path)).toEqual(bytes);
      }),
      { numRuns: 50 },
    );
  });

  it("need no file", async () => {
    const path = await pathIn();
    const { lines, open } = await readJournal(path);
    await open(async () => {});
    expect([lines, await readdir(join(path, ".."))]).toEqual([[], []]);
  });

  it("that another process added since are not cut off", async () => {
    const path = await pathIn();
    await writeFile(path, `${journalText(begun)}{"torn`);
    const { open } = await readJournal(path);
    await writeFile(path, journalText(begun, step("of the other one")));
    await open(async () => {});
    expect(await readLines(path)).toHaveLength(2);
  });

  it("that are sound but belong to another journal are refused", async () => {
    const path = await pathIn();
    await writeFile(path, journalText(begun, { ...step(""), id: 1 }));
    await expect(readLines(path)).rejects.toThrow(
      /moves\.jsonl is damaged in line 2: id: got 1, expected a text; compare the documents by hand/,
    );
    await expect(readLines(path)).rejects.toThrow(StopError);
  });

  const [one, two, three, four] = journalText(begun, step("a"), step("b"), step("c")).split("\n");
  it.each([
    ["a changed text", [one, two?.replace("a", "e"), three, four], 2],
    ["a changed checksum", [one, two, three?.replace(/[0-9a-f]{8}"\}$/, '00000000"}'), four], 3],
    ["no checksum", [one, two, JSON.stringify(step("b")), four], 3],
    ["no JSON", [one, "no JSON", two], 2],
    ["zeros", [one, two, "\0".repeat(40), four], 3],
    ["a blank line", [one, "", two], 2],
    ["a missing line", [one, three, four], 2],
    ["a line that is there twice", [one, two, two, three], 3],
    ["lines in another order", [one, two, four, three], 3],
    ["lines in reverse behind the first", [one, four, three, two], 2],
    ["the line of another journal", [one, journalText(begun, step("x")).split("\n")[1], three], 3],
  ])("that are damaged are refused: %s", async (_, lines, number) => {
    const path = await pathIn();
    const text = lines.map((line) => `${line}\n`).join("");
    await writeFile(path, text);
    await expect(readLines(path)).rejects.toThrow(StopError);
    await expect(readLines(path)).rejects.toThrow(
      `moves.jsonl is damaged in line ${number}: its checksum is wrong, or lines before it are missing; compare`,
    );
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("are those that were written, whatever is changed in the file", async () => {
    const path = await pathIn();
    const lines = [begun, ...["a", "bb", "ccc"].map(step)];
    const bytes = Buffer.from(journalText(...lines));
    const change = fc.record({ at: fc.nat(bytes.length - 2), by: fc.integer({ min: 1, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(change, async ({ at, by }) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ by;
        await writeFile(path, changed);
        await expect(readLines(path)).rejects.toThrow(StopError);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ["a note", "milk, bread"],
    ["a note of two lines", "milk\nbread"],
    ["zeros", "\0".repeat(40)],
    ["zeros behind the torn first line", `{"kind":"begun","run_id":"2026${"\0".repeat(40)}`],
    ["one blank line", "\n"],
    ["other JSON", journalText({ kind: "report", run_id: "1" })],
    ["lines in reverse", journalText(step("a"), begun)],
    ["a first line without its facts", journalText({ kind: "begun" })],
    ["a first line without a checksum", `${JSON.stringify(begun)}\n`],
    ["a first line with another checksum", journalText(begun).replace(/[0-9a-f]{8}"\}/, '00000000"}')],
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
    const text = `${journalText(begun)}{"torn`;
    await writeFile(`${path}.mine`, text);
    await link(`${path}.mine`, path);
    const { lines, open } = await readJournal(path);
    expect(lines).toEqual([begun]);
    await expect(open(async () => {})).rejects.toThrow(`${path} has other hard links`);
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("get a file of their own after the end of a restore, if the file has another hard link", async () => {
    const path = await pathIn();
    const ended = [begun, { kind: "end", time: "" }] as const;
    await writeFile(`${path}.mine`, `${journalText(...ended)}{"torn`);
    await link(`${path}.mine`, path);
    const file = await (await readJournal(path)).open(async () => {});
    onTestFinished(() => file.close());
    await file.append(begun);
    expect(await readFile(path, "utf8")).toBe(journalText(...ended, begun));
    expect(await readFile(`${path}.mine`, "utf8")).toBe(`${journalText(...ended)}{"torn`);
  });
});
