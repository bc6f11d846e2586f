import type { Chunk, StatusEntry } from "../knowledge.js";
import type { StoredChunk, StoredDocument } from "../stored-dataset.js";

/** A document that is being made anew, or was; times are Unix seconds. */
export interface ReindexingDocument {
  readonly before: StoredDocument;
  readonly after: StoredDocument;
  readonly startedAt: number;
  /** How long it takes. */
  readonly seconds: number;
}

/** What there is to be seen of it at one moment. */
export interface ReindexingMoment {
  readonly document: StoredDocument;
  readonly entry: StatusEntry;
}

/** The step at which each stage begins. */
const begins = { waiting: 0, parsing: 4, cleaning: 8, splitting: 12, indexing: 20, completed: 40 } as const;
const stages = ["waiting", "parsing", "cleaning", "splitting", "indexing", "completed"] as const;

type Stage = (typeof stages)[number];

/** The step, from 0 to 40, that has been reached at a time in Unix seconds, fractions included. */
export function stepAt({ startedAt, seconds }: ReindexingDocument, now: number): number {
  const share = seconds === 0 ? 1 : Math.max(0, Math.min(1, (now - startedAt) / seconds));
  return Math.floor(share * begins.completed);
}

/**
 * The document and its entry at a step. As in real deployments the old chunks are listed as `re_segment`, and not counted,
 * until the document is cleaned; new ones appear while it is split, as `waiting`, and then are indexed one after another.
 */
export function reindexingAt(reindexing: ReindexingDocument, step: number): ReindexingMoment {
  const { before, after } = reindexing;
  const stage = stages.findLast((each) => step >= begins[each]) ?? "waiting";
  const split = Math.floor(after.chunks.length * partDone(step, "splitting", "indexing"));
  const done = Math.floor(after.chunks.length * partDone(step, "indexing", "completed"));
  const old = step < begins.cleaning ? before.chunks.map((chunk) => withState(chunk, { status: "re_segment" })) : [];
  const fresh = after.chunks.slice(0, split).map((chunk, index) => (index < done ? chunk : unfinished(chunk, stage)));
  const state = { indexing_status: stage, display_status: displayStatus(stage) };
  return {
    document: { row: { ...after.row, ...state }, chunks: [...old, ...fresh] },
    entry: { ...entryAt(reindexing, stage), completed_segments: done, total_segments: split },
  };
}

function entryAt({ before, startedAt, seconds }: ReindexingDocument, stage: Stage) {
  const timeOf = (next: Stage) => {
    const reached = stages.indexOf(stage) >= stages.indexOf(next);
    return reached ? Math.floor(startedAt + (seconds * begins[next]) / begins.completed) : null;
  };
  return {
    id: before.row.id,
    indexing_status: stage,
    processing_started_at: timeOf("parsing"),
    parsing_completed_at: timeOf("cleaning"),
    cleaning_completed_at: timeOf("splitting"),
    splitting_completed_at: timeOf("indexing"),
    completed_at: timeOf("completed"),
    paused_at: null,
    error: null,
    stopped_at: null,
  };
}

/** From 0 to 1: how much of a stage is done. */
function partDone(step: number, stage: Stage, next: Stage): number {
  return Math.max(0, Math.min(1, (step - begins[stage]) / (begins[next] - begins[stage])));
}

function unfinished(chunk: StoredChunk, stage: Stage): StoredChunk {
  if (stage === "indexing") return withState(chunk, { status: "indexing", completed_at: null });
  return withState(chunk, { status: "waiting", indexing_at: null, completed_at: null });
}

function withState({ row, children }: StoredChunk, state: Partial<Chunk>): StoredChunk {
  return { row: { ...row, ...state }, children };
}

function displayStatus(stage: Stage): string {
  if (stage === "waiting") return "queuing";
  return stage === "completed" ? "available" : "indexing";
}
