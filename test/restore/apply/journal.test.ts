import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LostError, StopError } from "../../../src/errors.js";
import { type IntentFacts, type JournalOptions, openJournal as open } from "../../../src/restore/apply/journal.js";
import { testFolder } from "../../run/job-for.js";

const options = { runId: "20260301T000000000Z", baseUrl: "https://kb.example.com/v1", now: () => new Date(0) };
const facts: IntentFacts = {
  dataset_id: "set",
  document_id: "doc",
  level: "chunk",
  action: "add",
  old_id: "old",
  target_id: null,
  parent_id: null,
  method: "POST",
  path: "/x",
  sha256: "aa",
  texts_sha256: "bb",
  keywords_sha256: null,
  equal: ["one"],
};
const textOf = (folder: string) => readFile(join(folder, "journal.jsonl"), "utf8");

async function openJournal(folder: string, given: JournalOptions) {
  const journal = await open(folder, given);
  onTestFinished(() => journal.close());
  return journal;
}

/** A journal that has begun, with one write of which nobody knows what became. */
async function beganIn(folder: string) {
  const journal = await openJournal(folder, options);
  await journal.begin("before/runs/1");
  return { journal, intent: await journal.intend(facts) };
}

test("a process that another one replaced notes nothing more, so that it sends nothing", async () => {
  const folder = await testFolder();
  let isReplaced = false;
  const checkOwn = async () => {
    if (isReplaced) throw new LostError("replaced");
  };
  const journal = await openJournal(folder, { ...options, checkOwn });
  await journal.begin("before/runs/1");
  const intent = await journal.intend(facts);
  const noted = await textOf(folder);
  isReplaced = true;
  await expect(journal.conclude(intent, "done", { id: "new", isIndexed: true })).rejects.toThrow(LostError);
  await expect(journal.intend(facts)).rejects.toThrow(LostError);
  expect(await textOf(folder)).toBe(noted);
});

test("a write is not sent that was noted while another process took over", async () => {
  let looks = 0;
  const checkOwn = async () => {
    if (++looks === 3) throw new LostError("replaced");
  };
  const journal = await openJournal(await testFolder(), { ...options, checkOwn });
  await journal.begin("before/runs/1");
  await expect(journal.intend(facts)).rejects.toThrow(LostError);
});

test("a write is on disk before it may be sent, and the next process knows it", async () => {
  const folder = await testFolder();
  const { journal } = await beganIn(folder);
  const lines = (await textOf(folder))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    {
      kind: "begun",
      run_id: options.runId,
      base_url: options.baseUrl,
      undo: "before/runs/1",
      time: "1970-01-01T00:00:00.000Z",
    },
    { kind: "intent", number: 1, ...facts, time: "1970-01-01T00:00:00.000Z" },
  ]);
  await journal.close();
  const next = await openJournal(folder, options);
  expect([next.undo, next.open, next.writes]).toEqual(["before/runs/1", [lines[1]], 1]);
});

test("a journal that goes on counts on, and keeps the undo of every document that was written", async () => {
  const folder = await testFolder();
  const { journal } = await beganIn(folder);
  await journal.conclude(await journal.intend({ ...facts, document_id: "refused" }), "refused");
  const next = await openJournal(folder, options);
  await next.begin("before/runs/2");
  expect((await next.intend(facts)).number).toBe(3);
  await next.intend({ ...facts, document_id: "refused" });
  const undos = ["doc", "refused", "other"].map((id) => next.undoOf(id));
  expect(undos).toEqual(["before/runs/1", "before/runs/2", "before/runs/2"]);
  const last = await openJournal(folder, options);
  expect(["doc", "refused"].map((id) => last.undoOf(id))).toEqual(["before/runs/1", "before/runs/2"]);
});

test("outcomes are kept: later ones hold, and several writes to a row are one row", async () => {
  const folder = await testFolder();
  const { journal, intent } = await beganIn(folder);
  await journal.conclude(intent, "not done");
  expect([journal.open, journal.written]).toEqual([[], []]);
  await journal.conclude(intent, "done", { id: "new", isIndexed: false }); // it showed up late
  const disabling = { ...facts, action: "disable", target_id: "new", texts_sha256: null } as const;
  await journal.conclude(await journal.intend(disabling), "refused");
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
  await journal.conclude(await journal.intend({ ...disabling, action: "touch", texts_sha256: "cc" }), "done", {
    id: "new",
    isIndexed: true,
  });
  expect(journal.unindexed).toEqual([row]); // it has the text of a touched chunk
  await journal.conclude(await journal.intend({ ...disabling, action: "repair", texts_sha256: "bb" }), "done", {
    id: "new",
    isIndexed: true,
  });
  await journal.conclude(await journal.intend(disabling), "done", { id: "new", isIndexed: true });
  const end = { ...row, is_disabled: true, is_indexed: true };
  expect([journal.written, journal.unindexed, journal.writes]).toEqual([[end], [], 5]);
  await journal.close();
  const next = await openJournal(folder, options);
  expect([next.written, next.open]).toEqual([[end], []]);
});

test("a torn last line was never acted on, and what is noted next stands on a line of its own", async () => {
  const folder = await testFolder();
  const { journal } = await beganIn(folder);
  await journal.close();
  const whole = await textOf(folder);
  await appendFile(join(folder, "journal.jsonl"), '{"kind":"intent","number":2,"docum');
  const next = await openJournal(folder, options);
  expect(next.writes).toBe(1);
  await next.intend(facts);
  expect((await textOf(folder)).slice(0, whole.length)).toBe(whole);
  expect((await openJournal(folder, options)).writes).toBe(2);
});

test("a journal whose first line is torn begins anew", async () => {
  const folder = await testFolder();
  await writeFile(join(folder, "journal.jsonl"), '{"kind":"beg');
  const journal = await openJournal(folder, options);
  await journal.begin("undo");
  expect((await openJournal(folder, options)).undo).toBe("undo");
});

test.each([
  [
    "a time that is none",
    '{"kind":"sent","number":1,"time":"soon"}',
    /journal\.jsonl:2: the journal is damaged: time: /,
  ],
  ["garbage", "no JSON", /journal\.jsonl:2: the journal is damaged: got "no JSON"/],
  ["a line without its facts", '{"kind":"intent","number":1}', /journal\.jsonl:2: .*dataset_id/],
])("a damaged journal is refused: %s", async (_, line, message) => {
  const folder = await testFolder();
  await beganIn(folder);
  const [first, second] = (await textOf(folder)).split("\n");
  await writeFile(join(folder, "journal.jsonl"), `${first}\n${line}\n${second}\n`);
  await expect(openJournal(folder, options)).rejects.toThrow(message);
});

test("one that ended is kept under another name, and a new one begins", async () => {
  const folder = await testFolder();
  const { journal, intent } = await beganIn(folder);
  await journal.end(); // nobody knows what became of the write
  expect(await textOf(folder)).not.toContain('"end"');
  await journal.conclude(intent, "done", { id: "new", isIndexed: false });
  await journal.end(); // the chunk is to be repaired
  expect(await textOf(folder)).not.toContain('"end"');
  await journal.conclude(intent, "refused");
  await journal.end();
  await journal.close();
  const next = await openJournal(folder, options);
  expect([next.undo, next.writes, await readdir(folder)]).toEqual([null, 0, ["journal-19700101T000000000Z.jsonl"]]);
  await next.begin("undo");
  expect((await readdir(folder)).sort()).toEqual(["journal-19700101T000000000Z.jsonl", "journal.jsonl"]);
});

test.each([
  [{ baseUrl: "https://other.example.com/v1" }, /a restore to https:\/\/kb\.example\.com\/v1 did not end/],
  [{ runId: "20260302T000000000Z" }, /a restore to run 20260301T000000000Z did not end/],
])("one that did not end belongs to one run and one service: %j is refused", async (other, message) => {
  const folder = await testFolder();
  await beganIn(folder);
  await expect(openJournal(folder, { ...options, ...other })).rejects.toThrow(message);
});

test("nothing is written before it begins", async () => {
  const folder = await testFolder();
  const journal = await openJournal(folder, options);
  await journal.end();
  expect(await readdir(folder)).toEqual([]);
});

test("a journal that cannot be written stops everything, with the reason and what to do next", async () => {
  const folder = await testFolder();
  const journal = await openJournal(folder, options);
  await mkdir(join(folder, "journal.jsonl"));
  const message =
    /journal\.jsonl: the journal cannot be written: it is a folder: .*; nothing more is sent; restore again/;
  await expect(journal.begin("undo")).rejects.toThrow(message);
  await expect(journal.intend(facts)).rejects.toThrow(StopError);
});
