import { expect, test } from "vitest";
import type { WriteFacts } from "../../../src/journal/journal-schema.js";
import { memoryJournal } from "./memory-journal.js";

const request = { method: "POST", path: "/", sha256: "" };
const adding = (document_id: string, first: number, rows: number): WriteFacts => ({
  ...{ dataset_id: "set", write: "add chunks", document_id, first, rows },
});

test("the additions to a document are known by their places, with their ids once they are certain", async () => {
  const { journal } = memoryJournal();
  const one = await journal.intend(adding("doc", 0, 2), request);
  const other = await journal.intend(adding("other", 0, 1), request);
  const open = await journal.intend(adding("doc", 2, 3), request);
  await journal.conclude(one, "done", { ids: ["a", "b"] });
  await journal.conclude(other, "done", { ids: ["c"] });
  const lost = { first: 2, rows: 3, ids: null };
  expect(journal.additions("doc")).toEqual([{ first: 0, rows: 2, ids: ["a", "b"] }, lost]);
  await journal.conclude(open, "not done");
  expect(journal.additions("doc")).toHaveLength(2); // it may still arrive
  await journal.conclude(open, "refused");
  expect(journal.additions("doc")).toEqual([{ first: 0, rows: 2, ids: ["a", "b"] }]);
});

test("additions to an earlier copy of a document no longer count", async () => {
  const { journal } = memoryJournal();
  await journal.conclude(await journal.intend(adding("doc", 0, 1), request), "done", { ids: ["a"] });
  const facts = { dataset_id: "set", write: "create document", document_id: "doc" } as const;
  await journal.conclude(await journal.intend(facts, request), "done", { ids: ["copy"] });
  expect(journal.additions("doc")).toEqual([]);
});
