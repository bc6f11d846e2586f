import { hash } from "node:crypto";
import type { Details, Listed } from "./knowledge.js";
import {
  type ChildChunk,
  type Chunk,
  countsOf,
  type Dataset,
  isHighQuality,
  known,
  type NewPosition,
  newChild,
  type StoredChunk,
  type StoredDocument,
  stableId,
  sumOf,
} from "./rows.js";

/** An indexing, running or finished. Its state depends only on the time since its start. */
export interface IndexingJob {
  readonly batch: string;
  /** The number of the indexing of its document, from 1. */
  readonly generation: number;
  /** In Unix seconds with a fraction. */
  readonly startedAt: number;
  /** How many seconds the indexing takes. */
  readonly seconds: number;
  readonly before: StoredDocument;
  readonly after: StoredDocument;
}

/** The stages in order, with the share of the time at which each begins. */
const begins = { waiting: 0, parsing: 0.1, cleaning: 0.2, splitting: 0.3, indexing: 0.5, completed: 1 } as const;
const stages = ["waiting", "parsing", "cleaning", "splitting", "indexing", "completed"] as const;

type Stage = (typeof stages)[number];

/** The share of the time that has passed, the stage, and how many of the new chunks are split and indexed. */
function progressAt({ startedAt, seconds, after }: IndexingJob, now: number) {
  const share = seconds === 0 ? 1 : Math.max(0, Math.min(1, (now - startedAt) / seconds));
  const stage = stages.findLast((each) => share >= begins[each]) ?? "waiting";
  const countOf = (from: Stage, to: Stage) => {
    const part = (share - begins[from]) / (begins[to] - begins[from]);
    return Math.floor(after.chunks.length * Math.max(0, Math.min(1, part)));
  };
  return { share, stage, split: countOf("splitting", "indexing"), done: countOf("indexing", "completed") };
}

/** Whether an indexing is finished at a given time. */
export function isOver(job: IndexingJob, now: number): boolean {
  return progressAt(job, now).stage === "completed";
}

/**
 * The document at a time before the end. As in real deployments, old chunks are listed as `re_segment` and not counted until the
 * document is cleaned; new ones appear as `waiting` while it is split, and are then indexed one by one.
 */
export function documentAt(job: IndexingJob, now: number): StoredDocument {
  const { before, after } = job;
  const { share, stage, split, done } = progressAt(job, now);
  const unfinished = { completed_at: null, ...(stage === "indexing" ? {} : { indexing_at: null }) };
  const status = stage === "indexing" ? "indexing" : "waiting";
  const old = share < begins.cleaning ? before.chunks.map((chunk) => withState(chunk, { status: "re_segment" })) : [];
  const fresh = after.chunks
    .slice(0, split)
    .map((chunk, index) => (index < done ? chunk : withState(chunk, { status, ...unfinished })));
  const row = { ...after.row, indexing_status: stage, display_status: stage === "waiting" ? "queuing" : "indexing" };
  return { ...withDetails(after, { completed_at: null, indexing_latency: null }), row, chunks: [...old, ...fresh] };
}

function withState({ row, children }: StoredChunk, state: Partial<Chunk>): StoredChunk {
  return { row: { ...row, ...state }, children };
}

/** The document's entry in the indexing status of a batch, at a given time. */
export function entryAt(job: IndexingJob, now: number): Listed {
  const { before, startedAt, seconds } = job;
  const { share, stage, split, done } = progressAt(job, now);
  const timeOf = (each: Stage) => (share >= begins[each] ? Math.floor(startedAt + seconds * begins[each]) : null);
  return {
    ...{ id: before.row.id, indexing_status: stage, processing_started_at: timeOf("parsing") },
    ...{ parsing_completed_at: timeOf("cleaning"), cleaning_completed_at: timeOf("splitting") },
    ...{ splitting_completed_at: timeOf("indexing"), completed_at: timeOf("completed") },
    ...{ paused_at: null, error: null, stopped_at: null, completed_segments: done, total_segments: split },
  };
}

/**
 * Starts to index a document again from its source: it keeps its id, but gets new chunks with new ids, numbered from 1 and with no
 * hits. Manual edits are lost: chunks that people added, edited or disabled, and child chunks that they added or edited. The same
 * generation always has the same ids.
 */
export function beginIndexing(
  before: StoredDocument,
  source: Source,
  start: Omit<IndexingJob, "before" | "after">,
): IndexingJob {
  const { row, embedsChildren } = before;
  const { generation, seconds } = start;
  const time = Math.floor(start.startedAt);
  const chunks = source.map((piece, index) => {
    const id = stableId(`${row.id}/reindexed ${generation}/${index + 1}`);
    return chunkOf(piece, { id, position: index + 1, time }, embedsChildren);
  });
  const rows = chunks.map((chunk) => chunk.row);
  const counts = { tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count"), hit_count: 0 };
  const state = { indexing_status: "completed", error: null, display_status: "available" };
  const times = { updated_at: time, completed_at: Math.floor(time + seconds), indexing_latency: seconds };
  return { ...start, before, after: { ...withDetails(before, times), row: { ...row, ...counts, ...state }, chunks } };
}

/** Replaces the document's details, if they are known. */
function withDetails(document: StoredDocument, details: Details): StoredDocument {
  return document.details ? { ...document, details: { ...document.details, ...details } } : document;
}

/** A new chunk from a piece of the source. */
function chunkOf(
  { row, children }: StoredChunk,
  { id, position, time }: Omit<NewPosition, "by">,
  embedsChildren: boolean,
): StoredChunk {
  const made = children.map((child, index): ChildChunk => {
    const moved = { id: stableId(`${id}/${index + 1}`), segment_id: id, position: index + 1 };
    return { ...child, ...moved, created_at: time, updated_at: time };
  });
  const fresh = {
    ...{ index_node_id: stableId(`${id}/node`), index_node_hash: hash("sha256", row.content), hit_count: 0 },
    ...{ enabled: true, disabled_at: null, disabled_by: null, created_at: time, updated_at: time, updated_by: null },
    ...{ indexing_at: time, completed_at: time, error: null, stopped_at: null },
    child_chunks: embedsChildren ? made : [],
  };
  return { row: { ...row, ...known(fresh, row), id, position, status: "completed" }, children: made };
}

/** The original text of a document, split into chunks without manual edits. A re-index creates chunks from it. */
export type Source = readonly StoredChunk[];

/** The children that the service creates for a new parent: one per sentence. Ids are always the same for the same parent. */
export function automaticChildren(
  { id: parentId, content }: Chunk,
  { row }: StoredDocument,
  dataset: Dataset,
  time: number,
): readonly ChildChunk[] {
  if (row.doc_form !== "hierarchical_model" || !isHighQuality(dataset)) return [];
  return sentencesIn(content).map((sentence, index) => {
    const place = { id: stableId(`${parentId}/0/${index + 1}`), position: index + 1, time };
    return newChild(parentId, sentence, "automatic", place);
  });
}

/** The sentences of a text, trimmed. */
export function sentencesIn(text: string): readonly string[] {
  const parts = text.split(/(?<=[.!?؟])\s+|(?<=[。！？])|\n+/);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/**
 * The original text of a document that already has manual edits: its chunks without them. The rows do not show whether a chunk was
 * added or edited, so the later half of such chunks counts as added and has no source.
 */
export function sourceOf({ chunks }: StoredDocument): Source {
  const edited = chunks.filter(({ row }) => typeof row.updated_by === "string");
  const half = Math.floor(edited.length / 2);
  const [changed, added] = [edited.slice(0, half), edited.slice(half)];
  return chunks
    .filter((chunk) => !added.includes(chunk) && chunk.row.status !== "re_segment")
    .map((chunk) => {
      const row = changed.includes(chunk) ? withoutEdit(chunk.row) : chunk.row;
      const isSource = ({ type, content }: ChildChunk) => type !== "customized" && row.content.includes(content);
      return { row, children: chunk.children.filter(isSource) };
    });
}

/** Undoes the edit of a row: the edit added the last sentence, to the answer if there is one. */
function withoutEdit(row: Chunk): Chunk {
  const shorter = (text: string) => text.replace(/\s[^.]+\.$/, "");
  if (row.answer) return { ...row, answer: shorter(String(row.answer)) };
  const content = shorter(row.content);
  const counts = countsOf(content, null, row.tokens !== 0);
  return { ...row, content, ...counts, ...(row.sign_content === row.content && { sign_content: content }) };
}
