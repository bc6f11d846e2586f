import { hash } from "node:crypto";
import type { Details } from "./knowledge.js";
import {
  type ChildChunk,
  type Chunk,
  characters,
  type Dataset,
  isHighQuality,
  known,
  newChild,
  type StatusEntry,
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
  readonly before: StoredDocument;
  readonly after: StoredDocument;
  /** Unix seconds with a fraction. */
  readonly startedAt: number;
  /** Its duration. */
  readonly seconds: number;
}

/** The stages in order, with the share of the time at which each begins. */
const begins = { waiting: 0, parsing: 0.1, cleaning: 0.2, splitting: 0.3, indexing: 0.5, completed: 1 } as const;
const stages = ["waiting", "parsing", "cleaning", "splitting", "indexing", "completed"] as const;

type Stage = (typeof stages)[number];

/** Whether an indexing is finished at a given time. */
export function isOver(job: IndexingJob, now: number): boolean {
  return shareAt(job, now) === 1;
}

/** From 0 to 1. */
function shareAt({ startedAt, seconds }: IndexingJob, now: number): number {
  return seconds === 0 ? 1 : Math.max(0, Math.min(1, (now - startedAt) / seconds));
}

function stageAt(share: number): Stage {
  return stages.findLast((stage) => share >= begins[stage]) ?? "waiting";
}

/** How many of the new chunks exist, and how many of them are indexed. */
function countsAt({ after }: IndexingJob, share: number): { readonly split: number; readonly done: number } {
  const partOf = (from: Stage, to: Stage) => (share - begins[from]) / (begins[to] - begins[from]);
  const count = (part: number) => Math.floor(after.chunks.length * Math.max(0, Math.min(1, part)));
  return { split: count(partOf("splitting", "indexing")), done: count(partOf("indexing", "completed")) };
}

/**
 * The document at a time before the end. As in real deployments, old chunks are listed as `re_segment` and not counted until the
 * document is cleaned; new ones appear as `waiting` while it is split, and are then indexed one by one.
 */
export function documentAt(job: IndexingJob, now: number): StoredDocument {
  const { before, after } = job;
  const share = shareAt(job, now);
  const stage = stageAt(share);
  const { split, done } = countsAt(job, share);
  const old = share < begins.cleaning ? before.chunks.map((chunk) => withState(chunk, { status: "re_segment" })) : [];
  const unfinished = stage === "indexing" ? underWay : { status: "waiting", indexing_at: null, completed_at: null };
  const fresh = after.chunks
    .slice(0, split)
    .map((chunk, index) => (index < done ? chunk : withState(chunk, unfinished)));
  const display_status = stage === "waiting" ? "queuing" : "indexing";
  const row = { ...after.row, indexing_status: stage, display_status };
  return { ...withDetails(after, unended), row, chunks: [...old, ...fresh] };
}

/** The details of a document whose indexing has not finished. */
const unended = { completed_at: null, indexing_latency: null };

/** The state of a chunk that is not indexed yet. */
const underWay = { status: "indexing", completed_at: null };

function withState({ row, children }: StoredChunk, state: Partial<Chunk>): StoredChunk {
  return { row: { ...row, ...state }, children };
}

/** The document's entry in the indexing status of a batch, at a given time. */
export function entryAt(job: IndexingJob, now: number): StatusEntry {
  const { before, startedAt, seconds } = job;
  const share = shareAt(job, now);
  const { split, done } = countsAt(job, share);
  const timeOf = (stage: Stage) => (share >= begins[stage] ? Math.floor(startedAt + seconds * begins[stage]) : null);
  return {
    id: before.row.id,
    indexing_status: stageAt(share),
    processing_started_at: timeOf("parsing"),
    parsing_completed_at: timeOf("cleaning"),
    cleaning_completed_at: timeOf("splitting"),
    splitting_completed_at: timeOf("indexing"),
    completed_at: timeOf("completed"),
    ...{ paused_at: null, error: null, stopped_at: null },
    ...{ completed_segments: done, total_segments: split },
  };
}

/** The number of an indexing (from 1), its start in Unix seconds, and its duration in seconds. */
interface Generation {
  readonly generation: number;
  readonly startedAt: number;
  readonly seconds: number;
}

/**
 * The document after a re-index from its source: the same id, but new chunks with new ids, numbered from 1 and with no hits.
 * Manual edits are lost: chunks that people added, edited or disabled, and child chunks that they added or edited. The same
 * generation always has the same ids.
 */
export function reindexedDocument(
  document: StoredDocument,
  source: Source,
  { generation, startedAt, seconds }: Generation,
): StoredDocument {
  const chunks = source.map((piece, index) => {
    const id = stableId(`${document.row.id}/reindexed ${generation}/${index + 1}`);
    return chunkOf(piece, { id, position: index + 1, startedAt }, document.embedsChildren);
  });
  const rows = chunks.map(({ row }) => row);
  const counts = { tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count"), hit_count: 0 };
  const state = { indexing_status: "completed", error: null, display_status: "available" };
  const times = { updated_at: startedAt, completed_at: Math.floor(startedAt + seconds), indexing_latency: seconds };
  return { ...withDetails(document, times), row: { ...document.row, ...counts, ...state }, chunks };
}

/** Replaces the document's details, if they are known. */
function withDetails(document: StoredDocument, details: Details): StoredDocument {
  return document.details ? { ...document, details: { ...document.details, ...details } } : document;
}

interface Place {
  readonly id: string;
  readonly position: number;
  readonly startedAt: number;
}

function chunkOf({ row, children }: StoredChunk, place: Place, embedsChildren: boolean): StoredChunk {
  const { id, position, startedAt } = place;
  const made = children.map((child, index): ChildChunk => {
    const moved = { id: stableId(`${id}/${index + 1}`), segment_id: id, position: index + 1 };
    return { ...child, ...moved, created_at: startedAt, updated_at: startedAt };
  });
  const fresh = {
    index_node_id: stableId(`${id}/node`),
    index_node_hash: hash("sha256", row.content),
    hit_count: 0,
    ...{ enabled: true, disabled_at: null, disabled_by: null },
    ...{ created_at: startedAt, updated_at: startedAt, updated_by: null },
    ...{ indexing_at: startedAt, completed_at: startedAt, error: null, stopped_at: null },
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
 * The source of a document that already has manual edits, without them. The rows do not show whether a chunk was added or edited,
 * so the later half of such chunks counts as added and has no source.
 */
export function sourceOf({ chunks }: StoredDocument): Source {
  const edited = chunks.filter(isEdited);
  const dropped = new Set(edited.slice(Math.floor(edited.length / 2)));
  return chunks.filter((chunk) => !dropped.has(chunk) && chunk.row.status !== "re_segment").map(pieceOf);
}

function pieceOf(chunk: StoredChunk): StoredChunk {
  const row = isEdited(chunk) ? withoutEdit(chunk.row) : chunk.row;
  const children = chunk.children.filter(({ type, content }) => type !== "customized" && row.content.includes(content));
  return { row, children };
}

function isEdited({ row }: StoredChunk): boolean {
  return typeof row.updated_by === "string";
}

/** Undoes the edit of a row: the edit added the last sentence, to the answer if there is one. */
function withoutEdit(row: Chunk): Chunk {
  if (typeof row.answer === "string" && row.answer !== "") return { ...row, answer: withoutLastSentence(row.answer) };
  const content = withoutLastSentence(row.content);
  const length = characters(content);
  const tokens = row.tokens === 0 ? 0 : Math.ceil(length / 3);
  const sign_content = row.sign_content === row.content ? content : row.sign_content;
  return { ...row, content, word_count: length, tokens, ...(sign_content !== undefined && { sign_content }) };
}

/** Removes the last sentence; if there is only one, its second half. */
function withoutLastSentence(text: string): string {
  const earlier = /^(.*[.!?。！？؟])\s*[^.!?。！？؟]+[.!?。！？؟]\s*$/su.exec(text)?.[1];
  return earlier ?? text.slice(0, Math.ceil(text.length / 2)).toWellFormed();
}
