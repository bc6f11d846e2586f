import type { ChildLists, Manifest } from "../dump/manifest.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { Shard } from "../job/job.js";
import { type DocumentRow, documentKey } from "../rows/row.js";
import { noDrift } from "../rows/row-from-record.js";
import { valueIf } from "../schema.js";
import { type DumpedDocument, proofSchema } from "../segments/document-result.js";
import { shardText } from "../words.js";
import { documentsIn, type MergedList, shardsText } from "./merge-lists.js";

/** The documents of a shard, and where their rows lie. */
export interface ShardDocuments {
  readonly manifest: Pick<Manifest, "documents" | "child_lists" | "proofs">;
  /** The parts of each document, in the order of the manifest. */
  readonly segments: readonly (readonly SegmentFile[])[];
}

/**
 * The documents of all shards in the order of the list, each with the parts of its rows; `placeOf` gives the place of each. One that
 * its own shard did not list has failed; `command` gives the command that reads it.
 */
export function joinDocuments(
  shards: readonly ShardDocuments[],
  { list, unlisted }: Pick<MergedList, "list" | "unlisted">,
  placeOf: (row: DocumentRow) => number,
  command: (shard: Shard) => string,
): readonly DumpedDocument[] {
  const known = new Map<number, DumpedDocument>();
  for (const { manifest, segments } of shards)
    for (const [at, document] of documentsOf(manifest).entries())
      known.set(placeOf(document.row), { ...document, files: segments[at] ?? [] });
  return Array.from(documentsIn(list), ({ key, datasetId, documentId }, at) => {
    const document = known.get(at);
    if (document) return document;
    const { own: index = 0, listedBy = [] } = unlisted.get(key) ?? {};
    const [own, who] = [{ index, count: shards.length }, shardsText(listedBy)];
    const error = `${shardText(own)}, which reads it, did not list it, and ${who} did; make that shard again and join again: ${command(own)}`;
    return unreadDocument({ dataset_id: datasetId, document_id: documentId }, error);
  });
}

function documentsOf({ documents, child_lists, proofs }: ShardDocuments["manifest"]): readonly DumpedDocument[] {
  const lists = new Map<string, ChildLists>(child_lists.map((list) => [documentKey(list), list]));
  const proved = new Map(proofs.map((proof) => [documentKey(proof), proof.proof]));
  return documents.map((row) => {
    const key = documentKey(row);
    const proof = valueIf(proofSchema, proved.get(key)) ?? "none";
    return { row, drift: noDrift, childLists: lists.get(key) ?? null, proof, files: [], isOld: true };
  });
}

function unreadDocument(
  ids: { readonly dataset_id: string; readonly document_id: string },
  error: string,
): DumpedDocument {
  const counts = { total: null, chunk_count: 0, child_chunk_count: 0, sweeps: 0 };
  const row = { ...ids, doc_form: null, status: "failed" as const, ...counts, error };
  return { row, drift: noDrift, childLists: null, proof: "none", files: [], isOld: false };
}
