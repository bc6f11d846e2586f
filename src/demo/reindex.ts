import { hash } from "node:crypto";
import type { StoredChunk, StoredDocument } from "./index-knowledge.js";
import type { ChildChunk, Chunk, StatusEntry } from "./knowledge.js";
import { sumOf } from "./sample/build-document.js";
import { stableId } from "./sample/outline.js";
import { characters } from "./sample/prose.js";
import type { DocumentDetails } from "./store/new-rows.js";

/** An indexing that began: the first one of a document, or another. All that there is to be seen of it follows from the time since then. */
export interface IndexingJob {
  readonly before: StoredDocument;
  readonly after: StoredDocument;
  /** Unix seconds, with their fraction. */
  readonly startedAt: number;
  /** How long it takes. */
  readonly seconds: number;
  /** The reason why it fails at the end; undefined if it does not. */
  readonly error?: string | undefined;
}

/** The stages in their order, and the share of the time at which each begins. */
const begins = { waiting: 0, parsing: 0.1, cleaning: 0.2, splitting: 0.3, indexing: 0.5, completed: 1 } as const;
const stages = ["waiting", "parsing", "cleaning", "splitting", "indexing", "completed"] as const;

type Stage = (typeof stages)[number];

/** Whether an indexing is over at a time. */
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

/** How many of the new chunks are there, and how many of them are indexed. */
function countsAt({ after }: IndexingJob, share: number): { readonly split: number; readonly done: number } {
  const partOf = (from: Stage, to: Stage) => (share - begins[from]) / (begins[to] - begins[from]);
  const count = (part: number) => Math.floor(after.chunks.length * Math.max(0, Math.min(1, part)));
  return { split: count(partOf("splitting", "indexing")), done: count(partOf("indexing", "completed")) };
}

/**
 * The document at a time. As in real deployments the old chunks are listed as `re_segment`, and not counted, until the
 * document is cleaned; new ones appear while it is split, as `waiting`, and then are indexed one after another.
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

/** The details of a document whose indexing did not come to its end. */
const unended = { completed_at: null, indexing_latency: null };

/** The state of a chunk that is not indexed yet. */
const underWay = { status: "indexing", completed_at: null };

/** The document that an indexing leaves. If it failed, its new chunks are there, and were never indexed to the end. */
export function outcomeOf({ after, error }: IndexingJob): StoredDocument {
  if (error === undefined) return after;
  const state = { indexing_status: "error", display_status: "error", error };
  const chunks = after.chunks.map((chunk) => withState(chunk, underWay));
  return { ...withDetails(after, unended), row: { ...after.row, ...state }, chunks };
}

function withState({ row, children }: StoredChunk, state: Partial<Chunk>): StoredChunk {
  return { row: { ...row, ...state }, children };
}

/** The entry of the document in the indexing status of a batch, at a time. */
export function entryAt(job: IndexingJob, now: number): StatusEntry {
  const { before, startedAt, seconds, error } = job;
  const share = shareAt(job, now);
  const { split, done } = countsAt(job, share);
  const hasFailed = error !== undefined && share === 1;
  const timeOf = (stage: Stage) => (share >= begins[stage] ? Math.floor(startedAt + seconds * begins[stage]) : null);
  return {
    id: before.row.id,
    indexing_status: hasFailed ? "error" : stageAt(share),
    processing_started_at: timeOf("parsing"),
    parsing_completed_at: timeOf("cleaning"),
    cleaning_completed_at: timeOf("splitting"),
    splitting_completed_at: timeOf("indexing"),
    completed_at: hasFailed ? null : timeOf("completed"),
    paused_at: null,
    error: hasFailed ? error : null,
    stopped_at: hasFailed ? timeOf("completed") : null,
    completed_segments: hasFailed ? 0 : done,
    total_segments: split,
  };
}

/** Which indexing of a document this is, from 1, when it began in Unix seconds, and how many seconds it takes. */
interface Generation {
  readonly generation: number;
  readonly startedAt: number;
  readonly seconds: number;
}

/**
 * The document as a re-index makes it from its source: the same id, and every chunk another one with an id of its own, counted
 * from 1 and never hit. People's work is lost: their chunks, their edits, what they switched off, and the child chunks that
 * they made or changed. Ids are always the same for the same generation.
 */
export function reindexedDocument(
  document: StoredDocument,
  source: Source,
  { generation, startedAt, seconds }: Generation,
): StoredDocument {
  const chunks = source.map((piece, index) => {
    const id = stableId(`${document.row.id}/reindexed ${generation}/${index + 1}`);
    return chunkOf(piece, { id, position: index + 1, startedAt }, document.embedsChildren ?? false);
  });
  const rows = chunks.map(({ row }) => row);
  const counts = { tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count"), hit_count: 0 };
  const state = { indexing_status: "completed", error: null, display_status: "available" };
  const times = { updated_at: startedAt, completed_at: Math.floor(startedAt + seconds), indexing_latency: seconds };
  return { ...withDetails(document, times), row: { ...document.row, ...counts, ...state }, chunks };
}

/** The document with other details, if its details are known. */
function withDetails(document: StoredDocument, details: Partial<DocumentDetails>): StoredDocument {
  return document.details ? { ...document, details: { ...document.details, ...details } } : document;
}

interface Place {
  readonly id: string;
  readonly position: number;
  readonly startedAt: number;
}

function chunkOf(piece: StoredChunk, { id, position, startedAt }: Place, embedsChildren: boolean): StoredChunk {
  const { row } = piece;
  const children = piece.children.map((child, index) =>
    childOf(child, id, { id: stableId(`${id}/${index + 1}`), position: index + 1, startedAt }),
  );
  const fresh = {
    index_node_id: stableId(`${id}/node`),
    index_node_hash: hash("sha256", row.content),
    hit_count: 0,
    ...{ enabled: true, disabled_at: null, disabled_by: null },
    ...{ created_at: startedAt, updated_at: startedAt, updated_by: null },
    ...{ indexing_at: startedAt, completed_at: startedAt, error: null, stopped_at: null },
    child_chunks: embedsChildren ? children : [],
  };
  const known = Object.entries(fresh).filter(([field]) => field in row); // older servers have fewer
  return { row: { ...row, ...Object.fromEntries(known), id, position, status: "completed" }, children };
}

function childOf(child: ChildChunk, segmentId: string, { id, position, startedAt }: Place): ChildChunk {
  return { ...child, id, segment_id: segmentId, position, created_at: startedAt, updated_at: startedAt };
}

/** Cuts a text into pieces of at most so many characters (from 2): behind a sentence, else at white space, else anywhere. */
export function cutText(text: string, most: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > most) {
    const end = endOfPiece(rest.slice(0, most));
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? pieces : [...pieces, rest];
}

/** The sentences of a text, each without the white space around it. */
export function sentencesIn(text: string): readonly string[] {
  const parts = text.split(/(?<=[.!?؟])\s+|(?<=[。！？])|\n+/);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

function endOfPiece(head: string): number {
  const sentence = head.search(/[.!?。！？؟][^.!?。！？؟]*$/) + 1;
  if (sentence > 0) return sentence;
  const space = head.search(/\s\S*$/);
  if (space > 0) return space;
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length; // never through the middle of a character
}

/**
 * The source of a document, as the indexer cuts it: a chunk for each piece, as if none had been edited. Only what a re-index keeps
 * of these rows counts.
 */
export type Source = readonly StoredChunk[];

/**
 * The source of a document that holds people's work already: without their chunks, their edits, and the child chunks that they made.
 * The rows do not tell a chunk that was made by hand from one that was edited: the later half are taken as made.
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

/** The row as its source has it: the last sentence, of the answer where there is one, was added by hand. */
function withoutEdit(row: Chunk): Chunk {
  if (typeof row.answer === "string" && row.answer !== "") return { ...row, answer: withoutLastSentence(row.answer) };
  const content = withoutLastSentence(row.content);
  const length = characters(content);
  const tokens = row.tokens === 0 ? 0 : Math.ceil(length / 3);
  const sign_content = row.sign_content === row.content ? content : row.sign_content;
  return { ...row, content, word_count: length, tokens, ...(sign_content !== undefined && { sign_content }) };
}

/** A text of one sentence loses its second half. */
function withoutLastSentence(text: string): string {
  const earlier = /^(.*[.!?。！？؟])\s*[^.!?。！？؟]+[.!?。！？؟]\s*$/su.exec(text)?.[1];
  return earlier ?? text.slice(0, Math.ceil(text.length / 2)).toWellFormed();
}
