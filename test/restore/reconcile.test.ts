import { expect, test } from "vitest";
import { reconcile } from "../../src/restore/reconcile.js";
import { memoryJournal } from "./copy/memory-journal.js";

test("a write that was never sent counts as not done, whatever time its line has", async () => {
  const { journal, noted } = memoryJournal();
  await journal.intend({ write: "create dataset", dataset_id: "d" }, { method: "POST", path: "/", sha256: "" });
  const [begun, intent] = noted;
  const next = memoryJournal([begun, { ...intent, time: "" }] as typeof noted);
  const options = {
    ...{ journal: next.journal, log: () => {}, now: () => Date.now(), settle: 100, lockTime: 100 },
    ...{ api: undefined, signal: new AbortController().signal, sleep: async () => {} },
  };
  await reconcile(options as unknown as Parameters<typeof reconcile>[0]);
  expect(next.noted.at(-1)).toMatchObject({ kind: "outcome", outcome: "not done" });
});
