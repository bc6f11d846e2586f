import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Journal } from "../../../src/journal/journal.js";
import type { JournalLine, WriteFacts } from "../../../src/journal/journal-schema.js";
import { memoryJournal } from "./memory-journal.js";

const request = { method: "POST", path: "/x", sha256: "aa" };
const createDataset: WriteFacts = { write: "create dataset", dataset_id: "set", name: "Copy" };
const createDocument = (id: string): WriteFacts => ({
  ...createDataset,
  ...{ write: "create document", document_id: id, name: `${id}.txt` },
});
const addChunks = (id: string, first: number, rows: number): WriteFacts => ({
  ...createDocument(id),
  ...{ write: "add chunks", first, rows },
});

/** Records a completed write in the journal. */
async function done(journal: Journal, facts: WriteFacts, ids: readonly string[], batch: string | null = null) {
  await journal.conclude(await journal.intend(facts, request), "done", { ids, batch });
}

/** A journal with two documents; the first is complete. */
async function usualJournal() {
  const made = memoryJournal();
  const { journal } = made;
  await done(journal, createDataset, ["new set"]);
  await done(journal, createDocument("one"), ["new one"], "b1");
  await done(journal, addChunks("one", 0, 2), ["c1", "c2"]);
  await journal.finish("one");
  await done(journal, createDocument("two"), ["new two"], "b2");
  return made;
}

describe("the journal of a copy", () => {
  test("starts with the copy that it belongs to, once for every process", async () => {
    const { noted } = await usualJournal();
    expect(noted.map(({ kind }) => kind)).toEqual([
      ...["begun", "intent", "outcome", "intent", "outcome", "intent", "outcome", "restored"],
      ...["intent", "outcome"],
    ]);
    const next = memoryJournal(noted);
    await next.journal.finish("two");
    expect(next.noted.slice(noted.length)).toMatchObject([{ kind: "begun", undo: null }, { kind: "restored" }]);
  });

  test("maps every source to its copy, and knows the progress of each", async () => {
    const { journal } = await usualJournal();
    expect(journal.facts.isBegun).toBe(true);
    expect([...journal.facts.datasets]).toEqual([["set", { id: "new set", name: "Copy" }]]);
    expect([...journal.facts.documents]).toEqual([
      ["one", { target_id: "new one", target_dataset_id: "new set", state: "restored" }],
      ["two", { target_id: "new two", target_dataset_id: "new set", state: "begun" }],
    ]);
    expect(journal.additions("one")).toEqual([{ first: 0, rows: 2, ids: ["c1", "c2"] }]);
    expect(journal.writes).toBe(4);
  });

  test("numbers simultaneous writes in the order in which it logs them", async () => {
    const { journal, noted } = memoryJournal();
    const intents = await Promise.all(["one", "two", "three"].map((id) => journal.intend(createDocument(id), request)));
    expect(intents.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(noted.map((line) => (line.kind === "intent" ? line.number : line.kind))).toEqual(["begun", 1, 2, 3]);
  });

  test("a write without an outcome is open; one that was not done changes nothing, unless it arrives later", async () => {
    const { journal } = memoryJournal();
    const intent = await journal.intend(createDataset, request);
    expect(journal.open).toEqual([intent]);
    await journal.conclude(intent, "not done");
    expect([journal.open, journal.facts.datasets.size]).toEqual([[], 0]);
    await journal.conclude(intent, "done", { ids: ["late"] });
    expect(journal.facts.datasets.get("set")?.id).toBe("late");
  });

  test("a recreated document does not have the chunks of the one before", async () => {
    const { journal } = await usualJournal();
    await journal.forget("one");
    expect(journal.facts.documents.has("one")).toBe(false);
    await done(journal, createDocument("one"), ["newer one"]);
    expect(journal.additions("one")).toEqual([]);
    expect([...journal.madeDocuments]).toEqual(["new one", "new two", "newer one"]);
  });

  test("a document that was deleted is not there", async () => {
    const { journal } = await usualJournal();
    await done(journal, { ...createDocument("one"), write: "delete document", target_id: "new one" }, []);
    expect([...journal.facts.documents.keys()]).toEqual(["two"]);
  });

  test("attachments are known by their ids in the dump", async () => {
    const { journal } = memoryJournal();
    await done(journal, { ...createDocument("one"), write: "upload file", old_id: "file" }, ["new file"]);
    expect([...journal.facts.attachments]).toEqual([["file", "new file"]]);
  });
});

/** A random event of a copy: what it did, with which outcome, and for which of three documents in two datasets. */
const step = fc.record({
  act: fc.constantFrom("create dataset", "create", "add", "finish", "forget"),
  outcome: fc.constantFrom("done", "refused", "not done", "unknown"),
  at: fc.nat(2),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(journal: Journal, { act, outcome, at }: Step, id: string): Promise<void> {
  const dataset_id = `set ${at % 2}`;
  const document = `document ${at}`;
  const [isMade, hasDataset] = [journal.facts.documents.has(document), journal.facts.datasets.has(dataset_id)];
  const write = async (facts: WriteFacts) => {
    const intent = await journal.intend(facts, request);
    if (outcome !== "unknown") await journal.conclude(intent, outcome, outcome === "done" ? { ids: [id] } : {});
  };
  if (act === "create dataset" && !hasDataset) await write({ ...createDataset, dataset_id });
  if (act === "create" && hasDataset && !isMade) await write({ ...createDocument(document), dataset_id });
  if (act === "add" && isMade) await write({ ...addChunks(document, 0, 1), dataset_id });
  if (act === "finish") await journal.finish(document);
  if (act === "forget" && isMade) await journal.forget(document);
}

function stateOf({ facts, open, writes }: Journal) {
  return structuredClone({ open, writes, ...{ ...facts }, documents: facts.documents, datasets: facts.datasets });
}

test("a journal that is cut after any line has the state of that moment, and is sound", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { journal, noted } = memoryJournal();
      const states = new Map<number, ReturnType<typeof stateOf>>();
      for (const [index, each] of steps.entries()) {
        await take(journal, each, `id ${index}`);
        states.set(noted.length, stateOf(journal));
      }
      for (let length = 0; length <= noted.length; length++) {
        const lines = noted.slice(0, length);
        const cut = memoryJournal(lines).journal;
        const state = states.get(length);
        if (state) expect(stateOf(cut)).toEqual(state);
        expectSound(cut, lines);
      }
    }),
    { numRuns: 50 },
  );
});

function expectSound({ facts, open }: Journal, lines: readonly JournalLine[]): void {
  const concluded = new Set(lines.flatMap((line) => (line.kind === "outcome" ? [line.number] : [])));
  const intents = lines.filter((line) => line.kind === "intent");
  expect(open).toEqual(intents.filter(({ number }) => !concluded.has(number)));
  const datasets = new Set([...facts.datasets.values()].map(({ id }) => id));
  const documents = [...facts.documents.values()];
  expect(documents.filter(({ target_dataset_id }) => !datasets.has(target_dataset_id))).toEqual([]);
  expect(new Set(documents.map(({ target_id }) => target_id)).size).toBe(documents.length);
  expect(facts.isBegun).toBe(lines.length > 0);
}
