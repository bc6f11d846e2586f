import { appendFile, mkdir, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LostError, StopError } from "../../src/errors.js";
import { type JournalOptions, openJournal, readJournalState, readRestored } from "../../src/journal/journal.js";
import { readJournal } from "../../src/journal/journal-file.js";
import { emptyFacts, type JournalLine, type WriteFacts } from "../../src/journal/journal-schema.js";
import { JournalState } from "../../src/journal/journal-state.js";
import { testFolder } from "../run/job-for.js";
import { journalText } from "./journal-text.js";

const options = {
  runId: "20260301T000000000Z",
  baseUrl: "https://kb.example.com/v1",
  now: () => new Date(0),
  checkOwn: async () => {},
};
const facts: WriteFacts = {
  write: "add chunks",
  dataset_id: "set",
  document_id: "doc",
  old_id: "old",
  texts_sha256: "bb",
  equal: ["one"],
};
const request = { method: "POST", path: "/x", sha256: "aa" };
const none = {
  ...{ target_id: null, parent_id: null, name: null, first: null, rows: null, keywords_sha256: null },
};
const textOf = (folder: string) => readFile(join(folder, "journal.jsonl"), "utf8");

async function openIn(folder: string, given: JournalOptions) {
  const journal = await openJournal(folder, given);
  onTestFinished(() => journal.close());
  return journal;
}

/** A journal that has started, with one write whose outcome is unknown. */
async function beganIn(folder: string) {
  const journal = await openIn(folder, options);
  journal.beginWith("before/runs/1");
  return { journal, intent: await journal.intend(facts, request) };
}

test("a process that another one replaced notes nothing more, so that it sends nothing", async () => {
  const folder = await testFolder();
  let isReplaced = false;
  const checkOwn = async () => {
    if (isReplaced) throw new LostError("replaced");
  };
  const journal = await openIn(folder, { ...options, checkOwn });
  journal.beginWith("before/runs/1");
  const intent = await journal.intend(facts, request);
  const noted = await textOf(folder);
  isReplaced = true;
  await expect(journal.conclude(intent, "done", { ids: ["new"], isIndexed: true })).rejects.toThrow(LostError);
  await expect(journal.intend(facts, request)).rejects.toThrow(LostError);
  expect(await textOf(folder)).toBe(noted);
});

test("a write is not sent that was noted while another process took over", async () => {
  let looks = 0;
  const checkOwn = async () => {
    if (++looks === 3) throw new LostError("replaced");
  };
  const journal = await openIn(await testFolder(), { ...options, checkOwn });
  journal.beginWith("before/runs/1");
  await expect(journal.intend(facts, request)).rejects.toThrow(LostError);
});

test("a write is on disk before it may be sent, and the next process knows it", async () => {
  const folder = await testFolder();
  const { journal } = await beganIn(folder);
  const lines = (await textOf(folder))
    .trimEnd()
    .split("\n")
    .map((line) => ({ ...JSON.parse(line), crc: undefined }));
  expect(lines).toEqual([
    {
      kind: "begun",
      run_id: options.runId,
      base_url: options.baseUrl,
      undo: "before/runs/1",
      time: "1970-01-01T00:00:00.000Z",
    },
    { kind: "intent", number: 1, ...none, ...facts, ...request, time: "1970-01-01T00:00:00.000Z" },
  ]);
  await journal.close();
  const next = await openIn(folder, options);
  expect([next.undo, next.open, next.writes]).toEqual(["before/runs/1", [lines[1]], 1]);
});

test("a continued journal keeps counting, and keeps the undo of every document that was written", async () => {
  const folder = await testFolder();
  const { journal } = await beganIn(folder);
  await journal.conclude(await journal.intend({ ...facts, document_id: "refused" }, request), "refused");
  const next = await openIn(folder, options);
  next.beginWith("before/runs/2");
  expect((await next.intend(facts, request)).number).toBe(3);
  await next.intend({ ...facts, document_id: "refused" }, request);
  const undos = ["doc", "refused", "other"].map((id) => next.undoOf(id));
  expect(undos).toEqual(["before/runs/1", "before/runs/2", "before/runs/2"]);
  const last = await openIn(folder, options);
  expect(["doc", "refused"].map((id) => last.undoOf(id))).toEqual(["before/runs/1", "before/runs/2"]);
});

test("a document is unfinished from its first change until it is recorded as complete, and again after the next change", async () => {
  const folder = await testFolder();
  const { journal, intent } = await beganIn(folder);
  expect(journal.unfinished).toEqual([]); // nothing is known to be changed
  await journal.conclude(intent, "done", { ids: ["new"], isIndexed: true });
  expect((await openIn(folder, options)).unfinished).toEqual(["doc"]);
  await journal.finish("doc");
  expect((await openIn(folder, options)).unfinished).toEqual([]);
  await journal.conclude(await journal.intend(facts, request), "done", { ids: ["newer"], isIndexed: true });
  expect((await openIn(folder, options)).unfinished).toEqual(["doc"]);
});

test("the writes of a finished document no longer count, and its next write has another undo", async () => {
  const folder = await testFolder();
  const { journal, intent } = await beganIn(folder);
  await journal.conclude(intent, "done", { ids: ["new"], isIndexed: true });
  await journal.finish("doc");
  journal.beginWith("before/runs/2");
  const next = await journal.intend(facts, request);
  expect([next.number, journal.open, journal.written]).toEqual([2, [next], []]);
  await journal.conclude(next, "done", { ids: ["newer"], isIndexed: true });
  for (const each of [journal, await openIn(folder, options)])
    expect([each.written.map(({ id }) => id), each.undoOf("doc")]).toEqual([["newer"], "before/runs/2"]);
});

test("outcomes are kept: the latest one counts, and several writes to a row are one row", async () => {
  const folder = await testFolder();
  const { journal, intent } = await beganIn(folder);
  await journal.conclude(intent, "not done");
  expect([journal.open, journal.written]).toEqual([[], []]);
  await journal.conclude(intent, "done", { ids: ["new"], isIndexed: false }); // the write arrived late
  const disabling = { ...facts, write: "disable chunk", target_id: "new", texts_sha256: null } as const;
  await journal.conclude(await journal.intend(disabling, request), "refused");
  const row = {
    dataset_id: "set",
    document_id: "doc",
    level: "chunk",
    id: "new",
    old_id: "old",
    parent_id: null,
    is_added: true,
    texts_sha256: "bb",
    keywords_sha256: null,
    is_disabled: false,
    is_indexed: false,
  };
  expect([journal.written, journal.unindexed]).toEqual([[row], [row]]);
  await journal.conclude(
    await journal.intend({ ...disabling, write: "touch chunk", texts_sha256: "cc" }, request),
    "done",
    {
      ids: ["new"],
      isIndexed: true,
    },
  );
  expect(journal.unindexed).toEqual([row]); // still to index: the chunk has the text of the touch until it is repaired
  await journal.conclude(
    await journal.intend({ ...disabling, write: "repair chunk", texts_sha256: "bb" }, request),
    "done",
    {
      ids: ["new"],
      isIndexed: true,
    },
  );
  await journal.conclude(await journal.intend(disabling, request), "done", { ids: ["new"], isIndexed: true });
  const end = { ...row, is_disabled: true, is_indexed: true };
  expect([journal.written, journal.unindexed, journal.writes]).toEqual([[end], [], 5]);
  await journal.close();
  const next = await openIn(folder, options);
  expect([next.written, next.open]).toEqual([[end], []]);
});

test("a torn last line was never acted on, and the next entry starts on a new line", async () => {
  const folder = await testFolder();
  const { journal } = await beganIn(folder);
  await journal.close();
  const whole = await textOf(folder);
  await appendFile(join(folder, "journal.jsonl"), '{"kind":"intent","number":2,"docum');
  const next = await openIn(folder, options);
  expect(next.writes).toBe(1);
  await next.intend(facts, request);
  expect((await textOf(folder)).slice(0, whole.length)).toBe(whole);
  expect((await openIn(folder, options)).writes).toBe(2);
});

test("a journal whose first line is torn starts fresh", async () => {
  const folder = await testFolder();
  await writeFile(join(folder, "journal.jsonl"), '{"kind":"beg');
  const journal = await openIn(folder, options);
  journal.beginWith("undo");
  await journal.end();
  expect(await textOf(folder)).toMatch(/^\{"kind":"begun",.*"undo":"undo".*\n\{"kind":"end",.*\n$/);
});

test.each([
  ["a time that is none", { kind: "sent", number: 1, time: "soon" }, /journal\.jsonl is damaged in line 3: time: /],
  ["a line without its facts", { kind: "intent", number: 1 }, /journal\.jsonl is damaged in line 3: write: /],
])("a damaged journal is refused: %s", async (_, line, message) => {
  const folder = await testFolder();
  await beganIn(folder);
  const lines = (await textOf(folder)).trimEnd().split("\n");
  const noted = lines.map((each) => ({ ...JSON.parse(each), crc: undefined }));
  await writeFile(join(folder, "journal.jsonl"), journalText(...noted, line));
  await expect(openIn(folder, options)).rejects.toThrow(message);
});

test("after an end, the next restore begins in the same file, and knows only which rows were written", async () => {
  const folder = await testFolder();
  const { journal, intent } = await beganIn(folder);
  await journal.end(); // the outcome of the write is unknown
  expect(await textOf(folder)).not.toContain('"end"');
  await journal.conclude(intent, "done", { ids: ["new"], isIndexed: false });
  await journal.end(); // the chunk still needs a repair
  expect(await textOf(folder)).not.toContain('"end"');
  await journal.conclude(intent, "refused");
  await journal.conclude(await journal.intend(facts, request), "done", { ids: ["newer"], isIndexed: true });
  await journal.end();
  await journal.close();
  const restoredIn = ({ restored }: JournalState) => restored.map(({ old_id, id }) => [old_id, id]);
  const known = await readJournalState(folder, options);
  expect([restoredIn(known), known.written, known.undo, known.writes]).toEqual([[["old", "newer"]], [], null, 0]);
  const next = await openIn(folder, options);
  expect([restoredIn(next), next.written, next.undo, next.writes]).toEqual([[["old", "newer"]], [], null, 0]);
  next.beginWith("undo");
  expect((await next.intend(facts, request)).number).toBe(1);
  await next.close();
  const kinds = (await readJournal(join(folder, "journal.jsonl"))).lines.map(({ kind }) => kind);
  expect(kinds).toEqual(["begun", "intent", "outcome", "outcome", "intent", "outcome", "end", "begun", "intent"]);
  expect(await readdir(folder)).toEqual(["journal.jsonl"]);
});

test("a journal that is too large to read is a warning for a comparison", async () => {
  const run = join(await testFolder(), "run");
  await mkdir(`${run}.restore`);
  const path = join(`${run}.restore`, "journal.jsonl");
  await writeFile(path, "");
  await truncate(path, 3e9);
  const warnings = [`rows that were restored earlier are not recognized: ${path} is larger than 67.1 MB`];
  expect(await readRestored(run)).toEqual({ rows: [], warnings });
});

test("a journal with more rows than a call has arguments can be ended and read", async () => {
  const lines: JournalLine[] = [
    { kind: "begun", run_id: options.runId, base_url: options.baseUrl, undo: "undo", time: "" },
  ];
  const rows = 150_000;
  for (let number = 1; number <= rows; number++)
    lines.push(
      { kind: "intent", number, ...emptyFacts, ...facts, ...request, old_id: `old ${number}`, time: "" },
      { kind: "outcome", number, outcome: "done", ids: [`new ${number}`], batch: null, indexed: true, time: "" },
    );
  const state = new JournalState();
  for (const line of [...lines, { kind: "end", time: "" } as const]) state.take(line);
  expect([state.restored.length, state.written.length]).toEqual([rows, 0]);
});

test.each([
  [
    { baseUrl: "https://other.example.com/v1" },
    /run 20260301T000000000Z to https:\/\/kb\.example\.com\/v1 that did not end, and not of run/,
  ],
  [
    { runId: "20260302T000000000Z" },
    /of a restore of run 20260301T000000000Z to .* that did not end, and not of run 20260302T000000000Z/,
  ],
])("one that did not end belongs to one run and one service: %j is refused", async (other, message) => {
  const folder = await testFolder();
  await beganIn(folder);
  await expect(openIn(folder, { ...options, ...other })).rejects.toThrow(message);
});

test("nothing is written before the first entry", async () => {
  const folder = await testFolder();
  const journal = await openIn(folder, options);
  await journal.end();
  expect(await readdir(folder)).toEqual([]);
});

test("a journal that cannot be written stops everything, with the reason and what to do next", async () => {
  const folder = await testFolder();
  const journal = await openIn(folder, options);
  await mkdir(join(folder, "journal.jsonl"));
  const message =
    /journal\.jsonl: the journal cannot be written: it is a folder: .*; nothing more is sent; restore again/;
  journal.beginWith("undo");
  await expect(journal.intend(facts, request)).rejects.toThrow(message);
  await expect(journal.intend(facts, request)).rejects.toThrow(StopError);
});
