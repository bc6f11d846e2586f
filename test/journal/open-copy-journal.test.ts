import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LostError, StopError } from "../../src/errors.js";
import { openJournal, readJournalState } from "../../src/journal/journal.js";
import { readJournal } from "../../src/journal/journal-file.js";
import { noFacts } from "../../src/journal/journal-state.js";
import { testFolder } from "../run/job-for.js";

const usual = {
  ...({ runId: "20260301T000000000Z", baseUrl: "https://kb.example.com/v1" } as const),
  ...{ now: () => new Date("2026-03-01T02:00:00.123Z"), checkOwn: async () => {}, another: false },
};

async function openIn(folder: string, options: Partial<Parameters<typeof openJournal>[1]> = {}) {
  const journal = await openJournal(folder, { ...usual, ...options });
  journal.beginWith(null);
  onTestFinished(() => journal.close());
  return journal;
}

/** A folder with a journal that lists one copied dataset, and the path of the journal. */
async function begunFolder() {
  const folder = join(await testFolder(), "to", "kb.example.com");
  const journal = await openIn(folder);
  await journal.noteDataset("set", { id: "there", name: "There" });
  return { folder, path: join(folder, "journal.jsonl") };
}

test("a folder without a journal has no facts, and gets a journal with the first line", async () => {
  const folder = join(await testFolder(), "to", "kb.example.com");
  expect((await readJournalState(folder, usual)).facts).toEqual(noFacts);
  const journal = await openIn(folder);
  expect([await readdir(folder), journal.path]).toEqual([[], join(folder, "journal.jsonl")]);
  await journal.finish("one");
  expect(await readdir(folder)).toEqual(["journal.jsonl"]);
});

test("the next process knows what the previous one did, and continues in the same file", async () => {
  const { folder, path } = await begunFolder();
  const next = await openIn(folder);
  expect([...next.facts.datasets]).toEqual([["set", { id: "there", name: "There", existed: true }]]);
  expect((await readJournalState(folder, usual)).facts).toEqual({
    ...noFacts,
    datasets: next.facts.datasets,
    isBegun: true,
  });
  await next.forget("one");
  expect((await readFile(path, "utf8")).split("\n")).toHaveLength(5);
});

test("a torn last line is cut off by a process that continues, and left unchanged by a reader", async () => {
  const { folder, path } = await begunFolder();
  const whole = await readFile(path, "utf8");
  await writeFile(path, `${whole}{"kind":"forgot`);
  expect((await readJournalState(folder, usual)).facts.datasets.size).toBe(1);
  expect(await readFile(path, "utf8")).not.toBe(whole);
  expect((await openIn(folder)).facts.datasets.size).toBe(1);
  expect(await readFile(path, "utf8")).toBe(whole);
});

test("a damaged line stops everything, and is named", async () => {
  const { folder, path } = await begunFolder();
  await writeFile(path, (await readFile(path, "utf8")).replace("adopted", "adapted"));
  for (const read of [openIn, readJournalState]) {
    const reading = read(folder, usual);
    await expect(reading).rejects.toThrow(StopError);
    await expect(reading).rejects.toThrow("journal.jsonl is damaged in line 2: its checksum is wrong");
  }
});

test.each([{ runId: "20260401T000000000Z" }, { baseUrl: "http://kb.example.com/v1" }])(
  "the journal of another copy is refused: %j",
  async (other) => {
    const { folder } = await begunFolder();
    for (const read of [openIn, readJournalState]) {
      const reading = read(folder, { ...usual, ...other });
      await expect(reading).rejects.toThrow(StopError);
      await expect(reading).rejects.toThrow(
        "the journal of a restore of run 20260301T000000000Z to https://kb.example.com/v1 that did not end, and not of run",
      );
    }
  },
);

test("another copy begins in the same file, and knows nothing of the first one", async () => {
  const { folder, path } = await begunFolder();
  const before = await readFile(path, "utf8");
  const journal = await openIn(folder, { another: true });
  expect(journal.facts.datasets.size).toBe(0);
  expect(await readFile(path, "utf8")).toBe(before); // until the other copy writes something, the first one can still be continued
  await journal.finish("one");
  const { lines } = await readJournal(path);
  expect(lines.map(({ kind }) => kind)).toEqual(["begun", "adopted", "end", "begun", "restored"]);
  expect((await readJournalState(folder, usual)).facts).toEqual({ ...noFacts, isBegun: true });
});

test("another copy without a journal is like the first", async () => {
  const folder = await testFolder();
  await openIn(folder, { another: true });
  expect(await readdir(folder)).toEqual([]);
});

test("a process that another one replaced notes nothing more, so that it sends nothing", async () => {
  const { folder, path } = await begunFolder();
  const noted = await readFile(path, "utf8");
  const journal = await openIn(folder, { checkOwn: () => Promise.reject(new LostError("replaced")) });
  await expect(journal.finish("one")).rejects.toThrow(LostError);
  expect(await readFile(path, "utf8")).toBe(noted);
});

test("a write is not sent that was noted while another process took over", async () => {
  let looks = 0;
  const checkOwn = async () => {
    if (++looks === 3) throw new LostError("replaced"); // the lines `begun` and `intent` are already written
  };
  const journal = await openIn(await testFolder(), { checkOwn });
  const request = { method: "POST", path: "/x", sha256: "a" };
  await expect(journal.intend({ write: "create tag", dataset_id: "set" }, request)).rejects.toThrow(LostError);
});
