import { expect, test } from "vitest";
import { inFull } from "../../rounds.js";
import { child, chunk } from "../../verify/sound-tables.js";
import { compareTables, type Draft, described, oldTables, rowOf } from "./copied-dumps.js";

const pairs = ["a", "q"].map((document_id) => {
  const document = { dataset_id: "d", document_id };
  return { old: document, live: document };
});

async function differencesOf(change: (live: Draft) => void, old = oldTables()) {
  const live = oldTables();
  change(live);
  return described(await compareTables(old, live, { copies: null, pairs }));
}

test.runIf(inFull)("a service that is as the run has no difference", async () => {
  const change = (live: Draft) => {
    rowOf(live, "chunks", "a1").keywords = ["blue", "red"];
    rowOf(live, "chunks", "q2").answer = null;
    rowOf(live, "chunks", "a1").hit_count = 9;
    rowOf(live, "document_details", "a").doc_metadata = rowOf(oldTables(), "document_details", "a").doc_metadata;
  };
  expect(await differencesOf(change)).toEqual([]);
});

test.runIf(inFull)("each damage is a separate difference", async () => {
  const change = (live: Draft) => {
    const set = (kind: keyof Draft, id: string, values: object) => Object.assign(rowOf(live, kind, id), values);
    set("chunks", "a1", { content: "One", position: 3 });
    set("chunks", "a2", { enabled: false });
    set("chunks", "a3", { status: "error" });
    set("chunks", "a4", { keywords: ["new"] });
    set("chunks", "q1", { answer: "Because." });
    set("child_chunks", "k1", { content: "O" });
    set("child_chunks", "k2", { segment_id: "a2" });
    live.child_chunks = live.child_chunks.filter(({ id }) => id !== "k3");
    live.child_chunks.push(child("a", "a1", "k4"));
    live.chunks = live.chunks.filter(({ id }) => id !== "q2");
    live.chunks.push(chunk("q", "q3", { content: "How?" }));
    set("datasets", "d", { name: "New", retrieval_model: { search_method: "hybrid_search", top_k: 3, more: 1 } });
    set("document_details", "a", { archived: true });
    set("document_details", "q", { process_rule: { mode: "automatic" } });
  };
  expect(await differencesOf(change)).toEqual([
    'dataset d: its name is "New" at the service, and "Old" in the run',
    "dataset d: its retrieval model differs in more",
    "document a: its state (archived) is true at the service, and false in the run",
    "chunk a1: it differs in text and position",
    "chunk a2: it differs in state",
    "chunk a3: it differs in status",
    "chunk a4: it differs in keywords",
    "child_chunk k1: it differs in text",
    "child_chunk k2: it differs in chunk",
    "child_chunk k3: it is gone",
    "child_chunk k4: it is new: the run does not have it",
    "document q: its process rule differs in mode, rules",
    "chunk q1: it differs in text",
    "chunk q2: it is gone",
    "chunk q3: it is new: the run does not have it",
  ]);
});

test.runIf(inFull)("settings that one of the two did not read are not compared", async () => {
  const bare = { ...oldTables(), datasets: [], document_details: [] };
  const change = (live: Draft) => {
    rowOf(live, "datasets", "d").name = "New";
    rowOf(live, "document_details", "a").name = "new.md";
  };
  expect(await differencesOf(change, bare)).toEqual([]);
  expect(await differencesOf((live) => Object.assign(live, bare))).toEqual([]);
});
