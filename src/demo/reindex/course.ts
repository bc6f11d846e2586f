import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { Chunk, StatusEntry } from "../knowledge.js";

/** A re-index that was asked for. All that there is to be seen of it follows from the time since then. */
export interface Reindex {
  readonly before: StoredDocument;
  readonly after: StoredDocument;
  /** Unix seconds, with their fraction. */
  readonly startedAt: number;
  /** How long it takes. */
  readonly seconds: number;
}

/** The stages in their order, and the share of the time at which each begins. */
const begins = { waiting: 0, parsing: 0.1, cleaning: 0.2, splitting: 0.3, indexing: 0.5, completed: 1 } as const;
const stages = ["waiting", "parsing", "cleaning", "splitting", "indexing", "completed"] as const;

type Stage = (typeof stages)[number];

/** Whether a re-index is over at a time. */
export function isOver(reindex: Reindex, now: number): boolean {
  return shareAt(reindex, now) === 1;
}

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
export function documentAt(reindex: Reindex, now: number): StoredDocument {
  const { before, after } = reindex;
  const share = shareAt(reindex, now);
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
  return { ...after, row: { ...after.row, indexing_status: stage, display_status }, chunks: [...old, ...fresh] };
}

function withState({ row, children }: StoredChunk, state: Partial<Chunk>): StoredChunk {
  return { row: { ...row, ...state }, children };
}

/** The entry of the document in the indexing status of a batch, at a time. */
export function entryAt(reindex: Reindex, now: number): StatusEntry {
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
