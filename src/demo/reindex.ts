import { indexKnowledge, type StoredChunk, type StoredDataset, type StoredDocument } from "./index-knowledge.js";
import type { Chunk, Knowledge, StatusEntry } from "./knowledge.js";
import { invalidParam, notFound, Refusal } from "./refusal.js";
import { reindexedDocument } from "./reindexed-document.js";
import { jsonReply, type Route, routePath } from "./routes.js";

/** The answer to who has a document indexed anew: nothing else says which batch that is. */
interface Begun {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly batch: string;
}

/** A re-index that was asked for. All that there is to be seen of it follows from the time since then. */
interface Reindex extends Begun {
  readonly before: StoredDocument;
  readonly after: StoredDocument;
  /** Unix seconds, with their fraction. */
  readonly startedAt: number;
  /** How long it takes. */
  readonly seconds: number;
}

/** A knowledge whose documents can be indexed anew. */
export interface DemoKnowledge extends Knowledge {
  /** Begins at once and takes so many seconds. Throws a 404 for an unknown document, a 400 for one that is being indexed. */
  reindex(documentId: string, seconds: number): Begun;
}

/** A knowledge over the datasets given, which stay as they are until somebody has a document indexed anew. */
export function demoKnowledge(stored: readonly StoredDataset[], clock: () => Date): DemoKnowledge {
  const all: Reindex[] = [];
  const now = () => clock().getTime() / 1000;
  const newestOf = (documentId: string) => all.findLast(({ document_id }) => document_id === documentId);
  const documentNow = (document: StoredDocument) => {
    const reindex = newestOf(document.row.id);
    return reindex ? documentAt(reindex, now()) : document;
  };
  const entryNow = (entry: { readonly id: string }) => {
    const reindex = newestOf(entry.id);
    return reindex ? entryAt(reindex, now()) : entry;
  };
  const knowledge = indexKnowledge(stored, documentNow);
  return {
    ...knowledge,
    /** Every batch, an old one too, tells of a document what is so at the moment. */
    async indexingStatus(datasetId, batchId) {
      const own = all.find(({ dataset_id, batch }) => dataset_id === datasetId.toLowerCase() && batch === batchId);
      const entries = own ? [{ id: own.document_id }] : await knowledge.indexingStatus(datasetId, batchId);
      return entries.map(entryNow);
    },
    reindex(documentId, seconds) {
      const dataset = stored.find(({ documents }) => documents.some(({ row }) => row.id === documentId));
      const document = dataset?.documents.find(({ row }) => row.id === documentId);
      if (!dataset || !document) throw notFound("Document");
      const earlier = newestOf(documentId);
      if (earlier && shareAt(earlier, now()) < 1) throw beingIndexed();
      const before = earlier?.after ?? document;
      const generation = all.filter(({ document_id }) => document_id === documentId).length + 1;
      const after = reindexedDocument(before, { generation, startedAt: Math.floor(now()) });
      const begun = { dataset_id: dataset.row.id, document_id: documentId, batch: batchName(clock(), all.length + 1) };
      all.push({ ...begun, before, after, startedAt: now(), seconds });
      return begun;
    },
  };
}

/** The time, as the service names batches, and a number that tells apart those of one second. */
function batchName(time: Date, number: number): string {
  return time.toISOString().slice(0, 19).replace(/\D/g, "") + String(number).padStart(6, "0");
}

/** The answer of the service that this one stands in for. */
function beingIndexed(): Refusal {
  return new Refusal(400, "document_indexing", "Cannot operate document during indexing.");
}

/** The stages in their order, and the share of the time at which each begins. */
const begins = { waiting: 0, parsing: 0.1, cleaning: 0.2, splitting: 0.3, indexing: 0.5, completed: 1 } as const;
const stages = ["waiting", "parsing", "cleaning", "splitting", "indexing", "completed"] as const;

type Stage = (typeof stages)[number];

/** From 0 to 1. */
function shareAt({ startedAt, seconds }: Reindex, now: number): number {
  return seconds === 0 ? 1 : Math.max(0, Math.min(1, (now - startedAt) / seconds));
}

function stageAt(share: number): Stage {
  return stages.findLast((stage) => share >= begins[stage]) ?? "waiting";
}

/** How many of the new chunks are there, and how many of them are indexed. */
function countsAt({ after }: Reindex, share: number): { readonly split: number; readonly done: number } {
  const partOf = (from: Stage, to: Stage) => (share - begins[from]) / (begins[to] - begins[from]);
  const count = (part: number) => Math.floor(after.chunks.length * Math.max(0, Math.min(1, part)));
  return { split: count(partOf("splitting", "indexing")), done: count(partOf("indexing", "completed")) };
}

/**
 * The document at a time. As in real deployments the old chunks are listed as `re_segment`, and not counted, until the
 * document is cleaned; new ones appear while it is split, as `waiting`, and then are indexed one after another.
 */
function documentAt(reindex: Reindex, now: number): StoredDocument {
  const { before, after } = reindex;
  const share = shareAt(reindex, now);
  if (share === 1) return after;
  const stage = stageAt(share);
  const { split, done } = countsAt(reindex, share);
  const old = share < begins.cleaning ? before.chunks.map((chunk) => withState(chunk, { status: "re_segment" })) : [];
  const unfinished =
    stage === "indexing"
      ? { status: "indexing", completed_at: null }
      : { status: "waiting", indexing_at: null, completed_at: null };
  const fresh = after.chunks
    .slice(0, split)
    .map((chunk, index) => (index < done ? chunk : withState(chunk, unfinished)));
  const display_status = stage === "waiting" ? "queuing" : "indexing";
  return { row: { ...after.row, indexing_status: stage, display_status }, chunks: [...old, ...fresh] };
}

function withState({ row, children }: StoredChunk, state: Partial<Chunk>): StoredChunk {
  return { row: { ...row, ...state }, children };
}

function entryAt(reindex: Reindex, now: number): StatusEntry {
  const { before, startedAt, seconds } = reindex;
  const share = shareAt(reindex, now);
  const { split, done } = countsAt(reindex, share);
  const timeOf = (stage: Stage) => (share >= begins[stage] ? Math.floor(startedAt + seconds * begins[stage]) : null);
  return {
    id: before.row.id,
    indexing_status: stageAt(share),
    processing_started_at: timeOf("parsing"),
    parsing_completed_at: timeOf("cleaning"),
    cleaning_completed_at: timeOf("splitting"),
    splitting_completed_at: timeOf("indexing"),
    completed_at: timeOf("completed"),
    paused_at: null,
    error: null,
    stopped_at: null,
    completed_segments: done,
    total_segments: split,
  };
}

/** How long a re-index takes where nobody says so, and at the most, in seconds. */
const usual = 5;
const longest = 86_400;

/**
 * `POST /demo/reindex/<document id>?seconds=5` has a document of the demo indexed anew. It is no part of the interface
 * that the service stands in for, and lies outside of its base URL. The answer is 202 with what was begun, as JSON; or the
 * batch alone, where plain text is asked for.
 */
export function reindexRoute({ reindex }: Pick<DemoKnowledge, "reindex">): Route {
  return {
    method: "POST",
    path: routePath("/demo/reindex/:document"),
    reply: ({ id, query, accept }) => {
      const begun = reindex(id("document").toLowerCase(), secondsFrom(query));
      if (!accept?.startsWith("text/plain")) return jsonReply(202, begun);
      return { status: 202, type: "text/plain; charset=UTF-8", text: `${begun.batch}\n` };
    },
  };
}

function secondsFrom(query: URLSearchParams): number {
  const text = query.get("seconds") ?? String(usual);
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) <= longest) return Number(text);
  throw invalidParam(`seconds must be a number from 0 to ${longest}.`);
}
