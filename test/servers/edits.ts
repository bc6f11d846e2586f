import { makeDocument, type TestDocument } from "./store.js";

/** Edits of a document during a read. Each edit keeps `children` consistent with `chunks`. */

/** Deletes `count` chunks with their children, starting at index `from`, and returns their ids. */
export function deleteChunks(document: TestDocument, from: number, count: number): string[] {
  const ids = document.chunks.splice(from, count).map((chunk) => chunk.id);
  for (const id of ids) document.children.delete(id);
  return ids;
}

/** Adds `count` new chunks before index `at` (default: at the end), each with `children`, and returns their ids. */
export function addChunks(
  document: TestDocument,
  count: number,
  options: { readonly at?: number; readonly children?: number; readonly seed: number },
): string[] {
  const { at = document.chunks.length, children = 0, seed } = options;
  const source = makeDocument({ chunks: count, childrenPerChunk: children, docForm: document.docForm, seed });
  for (const chunk of source.chunks) {
    chunk.document_id = document.id;
    chunk.position = document.chunks[at]?.position ?? document.chunks.length + 1;
    document.children.set(chunk.id, source.children.get(chunk.id) ?? []);
  }
  document.chunks.splice(at, 0, ...source.chunks);
  return source.chunks.map((chunk) => chunk.id);
}

/** Swaps two chunks in the list. In a real service, two rows with equal positions may trade places between pages. */
export function swapChunks(document: TestDocument, one: number, other: number): void {
  const [first, second] = [document.chunks[one], document.chunks[other]];
  if (!first || !second) throw new RangeError(`no chunks at ${one} and ${other} of ${document.chunks.length}`);
  document.chunks[one] = second;
  document.chunks[other] = first;
}

/** Replaces every chunk like a re-index: new ids and index_node_ids, positions from 1, hit_count 0, same contents. */
export function reindex(document: TestDocument, seed: number): void {
  const fresh = makeDocument({ chunks: document.chunks.length, seed });
  const old = document.chunks;
  document.chunks = old.map((chunk, at) => {
    const source = fresh.chunks[at];
    const id = source?.id ?? chunk.id;
    const children = document.children.get(chunk.id) ?? [];
    document.children.delete(chunk.id);
    const moved = children.map((child, index) => ({ ...child, id: childId(id, index), segment_id: id }));
    document.children.set(id, moved);
    const embedded = Array.isArray(chunk.child_chunks) && chunk.child_chunks.length > 0 ? { child_chunks: moved } : {};
    const replaced = { id, index_node_id: source?.index_node_id ?? null, position: at + 1, hit_count: 0 };
    return { ...chunk, ...replaced, ...embedded };
  });
}

/** A UUID for the child at this index: the chunk's UUID with a different last group. */
function childId(chunkId: string, index: number): string {
  return `${chunkId.slice(0, 24)}${(index + 1).toString(16).padStart(12, "0")}`;
}
