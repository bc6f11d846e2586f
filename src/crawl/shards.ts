import { createHash } from "node:crypto";
import type { Shard } from "../job/job.js";
import type { Row } from "../rows/row.js";
import type { Discovery, ListedDataset } from "./discovery.js";

/**
 * The shard, from 1 to `count`, that reads a document. Computed from the first 48 bits of the SHA-256 of both ids, modulo
 * `count`, and nothing else, so machines agree without communicating. Rows of a dataset that belong to no document go to the
 * shard of the document "".
 */
export function shardOf(datasetId: string, documentId: string, count: number): number {
  const hash = createHash("sha256").update(`${datasetId}\n${documentId}`).digest();
  return (hash.readUIntBE(0, 6) % count) + 1;
}

/** Whether a row belongs to a document of the shard. */
export function isRowOf({ index, count }: Shard): (row: Row) => boolean {
  return ({ dataset_id, document_id }) => shardOf(String(dataset_id), String(document_id), count) === index;
}

/** The documents of a shard, with their rows of `document_info`, in order. Keeps all datasets and listings. */
export function discoveryOfShard({ datasets, found }: Discovery, shard: Shard): Discovery {
  const { index, count } = shard;
  return {
    datasets: datasets.map((dataset) => ({
      ...dataset,
      documents: dataset.documents.filter((id) => shardOf(dataset.id, id, count) === index),
    })),
    found: found && {
      ...found,
      rows: found.rows.filter(isRowOf(shard)),
      drift: index === 1 ? found.drift : {}, // the lists belong to all shards: count their drift only in the first
    },
  };
}

/**
 * The datasets whose rows without a document this shard reads: metadata fields, settings and the status of
 * batches.
 */
export function datasetsOfShard(datasets: readonly ListedDataset[], { index, count }: Shard): readonly ListedDataset[] {
  return datasets.filter(({ id }) => shardOf(id, "", count) === index);
}
