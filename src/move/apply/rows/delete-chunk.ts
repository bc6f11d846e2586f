import type { DocumentCopy } from "./document-copy.js";
import { readChunk } from "./read-copy.js";

/** Deletes a chunk that this move added. SkipError where it stays: chunks behind it would come in another order. */
export async function deleteChunk(copy: DocumentCopy, id: string, oldId: string | null): Promise<void> {
  const { options, place } = copy.work;
  const find = async () => ((await readChunk(copy.work, id)) ? undefined : { ids: [id] });
  const facts = { write: "delete chunk", old_id: oldId, target_id: id } as const;
  const carried = await copy.carry(facts, options.writer.deleteChunk(place, id), find);
  if (carried.kind !== "done" && !(carried.kind === "refused" && carried.status === 404)) {
    throw copy.astray(`chunk ${id}, which has to go, could not be deleted: ${carried.reason}`);
  }
  copy.ids.delete(id);
}
