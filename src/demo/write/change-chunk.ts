import { hash } from "node:crypto";
import type { StoredChunk, StoredDataset, StoredDocument } from "../index-knowledge.js";
import type { Chunk } from "../knowledge.js";
import { invalidParam } from "../refusal.js";
import { accounts } from "../sample/stable-id.js";
import { withChildren } from "../store/change-document.js";
import { countsOf, isQa } from "../store/new-chunk.js";
import { automaticChildren, isHighQuality, makesChildren } from "../store/new-source.js";
import { failedState } from "./add-chunks.js";
import type { ChunkChange } from "./requests.js";

/** The circumstances of a change. */
interface Circumstances {
  readonly dataset: StoredDataset;
  readonly document: StoredDocument;
  /** Unix seconds. */
  readonly time: number;
  /** Why a content cannot be indexed; undefined where it can. */
  readonly failureOf: (content: string) => string | undefined;
  /** The number of this write, from 1. */
  readonly round: number;
}

/**
 * The chunk as a change leaves it. `enabled: false` disables it, and nothing else happens. Throws a 400 for a disabled chunk, unless
 * `enabled: true` comes with the change.
 */
export function changedChunk(chunk: StoredChunk, change: ChunkChange, circumstances: Circumstances): StoredChunk {
  const { document, dataset, time, failureOf, round } = circumstances;
  const { row } = chunk;
  if (change.enabled === false && isEnabled(row)) {
    const disabled = { enabled: false, disabled_at: time, disabled_by: accounts.owner };
    return { ...chunk, row: { ...row, ...disabled } };
  }
  if (!isEnabled(row) && change.enabled !== true) throw invalidParam("Can't update disabled segment");
  const changed = changedRow(row, change, circumstances);
  const isOther = changed.content !== row.content || String(changed.keywords) !== String(row.keywords);
  const failure = isOther || change.enabled === true ? failureOf(changed.content) : undefined;
  if (failure !== undefined) return { ...chunk, row: { ...changed, ...failedState(failure, time) } };
  if (!change.regenerate_child_chunks || !makesChildren(document, dataset)) return { ...chunk, row: changed };
  const parent = { ...chunk, row: changed };
  return withChildren(parent, automaticChildren(parent, document, dataset, { time, round }), document);
}

export function isEnabled({ enabled }: Chunk): boolean {
  return enabled !== false;
}

/** The fields left out are not always kept: an answer gets lost, and files that are not named are unbound. */
function changedRow(row: Chunk, change: ChunkChange, { document, dataset, time }: Circumstances): Chunk {
  const content = change.content || row.content;
  const answer = isQa(document.row) ? (change.answer ?? null) : row.answer;
  const { word_count, tokens } = countsOf(content, answer, isHighQuality(dataset));
  const attachments = row.attachments?.filter(({ id }) => change.attachment_ids?.includes(String(id)));
  const same: Chunk = {
    ...row,
    ...(answer !== undefined && { answer }),
    word_count,
    ...(attachments && { attachments }),
    ...(typeof change.summary === "string" && { summary: change.summary }),
    ...{ enabled: true, disabled_at: null, disabled_by: null },
  };
  const keywords = change.keywords?.length ? { keywords: change.keywords } : {};
  if (content === row.content) return { ...same, ...keywords };
  const signed = row.sign_content === row.content ? { sign_content: content } : {};
  return {
    ...same,
    // High-quality datasets keep the keywords whenever the content changes: these must come with a request of their own.
    ...(isHighQuality(dataset) ? {} : keywords),
    ...{ content, ...signed, tokens, index_node_hash: hash("sha256", content), status: "completed" },
    ...{ indexing_at: time, completed_at: time, updated_by: accounts.owner, updated_at: time },
  };
}
