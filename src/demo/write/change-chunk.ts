import { hash } from "node:crypto";
import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { Attachment, Chunk, Dataset } from "../knowledge.js";
import { invalidParam } from "../refusal.js";
import { accounts } from "../sample/stable-id.js";
import { withChildren } from "../store/change-document.js";
import { countsOf, isQa } from "../store/new-chunk.js";
import { automaticChildren, isHighQuality, makesChildren } from "../store/new-source.js";
import { failedState } from "./add-chunks.js";
import type { ChunkChange } from "./requests.js";

/** The circumstances of a change. */
interface Circumstances {
  readonly dataset: Dataset;
  readonly document: StoredDocument;
  /** Unix seconds. */
  readonly time: number;
  /** The file with an id: one that somebody uploaded, or that a chunk has. */
  readonly fileOf: (id: string) => Readonly<Record<string, unknown>> | undefined;
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
function changedRow(row: Chunk, change: ChunkChange, { document, dataset, time, fileOf }: Circumstances): Chunk {
  const content = change.content || row.content;
  const answer = isQa(document.row) ? (change.answer ?? null) : row.answer;
  const { word_count, tokens } = countsOf(content, answer, isHighQuality(dataset));
  const attachments = row.attachments && boundFiles(row.attachments, change.attachment_ids ?? [], fileOf);
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

/** The files that are named: those that the chunk has already, and behind them others. Throws a 400 for a file that is unknown. */
function boundFiles(
  present: readonly Attachment[],
  ids: readonly string[],
  fileOf: Circumstances["fileOf"],
): readonly Attachment[] {
  const named = [...new Set(ids.map((id) => id.toLowerCase()))];
  const kept = present.filter(({ id }) => named.includes(String(id)));
  const others = named.filter((id) => !kept.some((file) => file.id === id));
  const added = others.map((id) => {
    const file = fileOf(id);
    if (!file) throw invalidParam(`Attachment ${id} not found.`);
    const { name, size, extension, mime_type } = file;
    return { id, name, size, extension, mime_type, source_url: `/files/${id}/file-preview` };
  });
  return [...kept, ...added];
}
