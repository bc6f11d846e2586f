import { createHash } from "node:crypto";
import type { Shard } from "../../job/job.js";
import type { Discovery, ListedDataset } from "./discovery.js";

/**
 * The shard, from 1 to `count`, that reads a document: the first 48 bits of the SHA-256 of both ids, modulo `count`, plus 1. It
 * depends on nothing else, so that machines which never talk to each other agree. The rows of a dataset that belong to no
 * document are read by the shard of the document "".
 */
export function shardOf(datasetId: string, documentId: string, count: number): number {
  const hash = createHash("sha256").update(`${datasetId}\n${documentId}`).digest();
  return (hash.readUIntBE(0, 6) % count) + 1;
}

/** The documents of a shard, with their rows of `document_info`, in their order. All datasets and listings stay. */
export function discoveryOf({ datasets, found }: Discovery, { index, count }: Shard): Discovery {
  const isOwn = (datasetId: string, documentId: string) => shardOf(datasetId, documentId, count) === index;
  return {
    datasets: datasets.map((dataset) => ({
      ...dataset,
      documents: dataset.documents.filter((id) => isOwn(dataset.id, id)),
    })),
    found: found && {
      ...found,
      rows: found.rows.filter((row) => isOwn(String(row.dataset_id), String(row.document_id))),
      drift: index === 1 ? found.drift : {}, // of the lists: counted once over all shards
    },
  };
}

/** The datasets of which a shard reads the rows that belong to no document: fields, settings, the status of batches. */
export function datasetsOf(datasets: readonly ListedDataset[], { index, count }: Shard): readonly ListedDataset[] {
  return datasets.filter(({ id }) => shardOf(id, "", count) === index);
}
