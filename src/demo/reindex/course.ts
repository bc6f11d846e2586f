import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { Chunk, StatusEntry } from "../knowledge.js";
import { withDetails } from "./reindexed-document.js";

/** An indexing that began: the first one of a document, or another. All that there is to be seen of it follows from the time since then. */
export interface Course {
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
export function isOver(course: Course, now: number): boolean {
  return shareAt(course, now) === 1;
}

/** From 0 to 1. */
function shareAt({ startedAt, seconds }: Course, now: number): number {
  return seconds === 0 ? 1 : Math.max(0, Math.min(1, (now - startedAt) / seconds));
}

function stageAt(share: number): Stage {
  return stages.findLast((stage) => share >= begins[stage]) ?? "waiting";
}

/** How many of the new chunks are there, and how many of them are indexed. */
function countsAt({ after }: Course, share: number): { readonly split: number; readonly done: number } {
  const partOf = (from: Stage, to: Stage) => (share - begins[from]) / (begins[to] - begins[from]);
  const count = (part: number) => Math.floor(after.chunks.length * Math.max(0, Math.min(1, part)));
  return { split: count(partOf("splitting", "indexing")), done: count(partOf("indexing", "completed")) };
}

/**
 * The document at a time. As in real deployments the old chunks are listed as `re_segment`, and not counted, until the
 * document is cleaned; new ones appear while it is split, as `waiting`, and then are indexed one after another.
 */
export function documentAt(course: Course, now: number): StoredDocument {
  const { before, after } = course;
  const share = shareAt(course, now);
  const stage = stageAt(share);
  const { split, done } = countsAt(course, share);
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
export function outcomeOf({ after, error }: Course): StoredDocument {
  if (error === undefined) return after;
  const state = { indexing_status: "error", display_status: "error", error };
  const chunks = after.chunks.map((chunk) => withState(chunk, underWay));
  return { ...withDetails(after, unended), row: { ...after.row, ...state }, chunks };
}

function withState({ row, children }: StoredChunk, state: Partial<Chunk>): StoredChunk {
  return { row: { ...row, ...state }, children };
}

/** The entry of the document in the indexing status of a batch, at a time. */
export function entryAt(course: Course, now: number): StatusEntry {
  const { before, startedAt, seconds, error } = course;
  const share = shareAt(course, now);
  const { split, done } = countsAt(course, share);
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
