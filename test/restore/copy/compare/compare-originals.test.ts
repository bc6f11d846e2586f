import { expect, test } from "vitest";
import { compareTables, copies, type Draft, described, liveTables, oldTables, rowOf } from "./copied-dumps.js";

const file = {
  ...{ dataset_id: "d", document_id: "a", path: "originals/a/a.md", name: "a.md", mime_type: null },
  ...{
    bytes: 3,
    expected_bytes: 3,
    sha256: "a".repeat(64),
    file_id: null,
    verdict: "complete",
    reason: null,
    attachment_id: null,
    chunk_id: null,
  },
};
const there = { ...file, dataset_id: "D", document_id: "A", path: "originals/x/a.md" };

/** Compares documents that were restored from their files; the service cut them into chunks of its own. */
async function differencesOf(
  change: (live: Draft) => void,
  saved: object = there,
  originals: readonly object[] = [file],
) {
  const live = { ...liveTables(), chunks: [], child_chunks: [] };
  change(live);
  const given = {
    copies: { ...copies, from: "originals" as const },
    old: { manifest: { originals } },
    live: { manifest: { originals: [saved] } },
  };
  return described(await compareTables(oldTables(), live, given));
}

test("documents that were restored from their files are compared by file, name, state and metadata", async () => {
  expect(
    await differencesOf((live) => Object.assign(rowOf(live, "document_details", "A"), { process_rule: null })),
  ).toEqual([]);
  const change = (live: Draft) => {
    Object.assign(rowOf(live, "document_details", "A"), { name: "b.md", indexing_status: "error", doc_metadata: [] });
    Object.assign(rowOf(live, "document_details", "Q"), { enabled: false, archived: true });
  };
  expect(await differencesOf(change, { ...there, sha256: "b".repeat(64) })).toEqual([
    'document a: its name is "b.md" at the service, and "a.md" in the run',
    'document a: its indexing status is "error" at the service, and "completed" in the run',
    'document a: its metadata value "author" is nothing at the service, and "Jo" in the run',
    'document a: its metadata value "pages" is nothing at the service, and 12 in the run',
    "document a: its file has another SHA-256 at the service",
    "document q: its state (enabled) is false at the service, and true in the run",
    "document q: its state (archived) is true at the service, and false in the run",
  ]);
});

test("a document that is named after its file, as it was renamed to another ending, is no difference", async () => {
  const renamed = { ...file, name: "first.pdf" };
  const named = (name: string) => (live: Draft) =>
    void Object.assign(rowOf(live, "document_details", "A"), { process_rule: null, name });
  expect(await differencesOf(named("first.pdf"), there, [renamed])).toEqual([]);
  expect(await differencesOf(named("a.md"), there, [renamed])).toEqual([
    'document a: its name is "a.md" at the service, and "first.pdf" in the run',
  ]);
});

test("a file attached to a chunk is not taken for the original of its document", async () => {
  const attached = {
    ...file,
    attachment_id: "f1",
    chunk_id: "a1",
    path: "originals/a/plan.png",
    sha256: "c".repeat(64),
  };
  expect(await differencesOf(() => {}, there, [attached, file])).toEqual([]);
});

test("a file that the service does not give is a difference", async () => {
  const missing = {
    ...there,
    path: null,
    sha256: null,
    bytes: 0,
    verdict: "missing",
    reason: "the service has no file",
  };
  expect(await differencesOf(() => {}, missing)).toEqual([
    "document a: its file is not complete at the service: the service has no file",
  ]);
  expect(await differencesOf(() => {}, { ...there, document_id: "Q" })).toEqual([
    "document a: its file is not complete at the service: it has none",
  ]);
});
