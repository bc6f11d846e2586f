import type { ChunkUpdate } from "../../../client/write/write-bodies.js";
import { chunkDisabling, newChunk } from "../../../restore/apply/chunk-bodies.js";
import { meaningOf } from "../../../restore/apply/meaning-of.js";
import type { StandingChunk } from "../../../restore/apply/row-texts.js";
import { isSameSet } from "../../../restore/same-set.js";
import type { ChunkCopy, DocumentCopy } from "./document-copy.js";
import { readChunk } from "./read-copy.js";

/** The outcome of an update. `busy`: the service takes it later. */
export type Updated = { readonly kind: "done" } | { readonly kind: "busy" | "failed"; readonly reason: string };

/** Disables a chunk. Its attachments must be bound before: a disabled chunk takes no other change. */
export async function disableChunk(copy: DocumentCopy, chunk: ChunkCopy): Promise<Updated> {
  const body = chunkDisabling({ ...chunk.row, ...chunk }, copy.work.plan.doc_form);
  return updateChunk(copy, chunk, "disable chunk", body, ({ enabled }) => !enabled);
}

/** Binds attachments to a chunk, by their ids in the target, and no others. A chunk that is disabled is enabled by it. */
export async function bindAttachments(
  copy: DocumentCopy,
  chunk: ChunkCopy,
  attachment_ids: readonly string[],
): Promise<Updated> {
  const enabling = chunk.enabled ? {} : { enabled: true };
  const body = { ...newChunk(chunk.row, copy.work.plan.doc_form), ...enabling, attachment_ids };
  return updateChunk(copy, chunk, "update chunk", body, (there) => isSameSet(there.attachment_ids, attachment_ids));
}

async function updateChunk(
  copy: DocumentCopy,
  { id, row }: ChunkCopy,
  write: "update chunk" | "disable chunk",
  body: ChunkUpdate,
  isDone: (there: StandingChunk) => boolean,
): Promise<Updated> {
  const { options, place } = copy.work;
  const find = async () => {
    const there = await readChunk(copy.work, id);
    return there && isDone(there) ? { ids: [id] } : undefined;
  };
  const prepared = options.writer.updateChunk(place, id, body);
  const carried = await copy.carry({ write, old_id: row.id, target_id: id }, prepared, find);
  if (carried.kind === "done") return { kind: "done" };
  const isBusy = carried.kind === "refused" && meaningOf(carried) === "busy";
  return { kind: isBusy ? "busy" : "failed", reason: carried.reason };
}
