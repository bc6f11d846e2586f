import { indexKnowledge } from "../index-knowledge.js";
import type { Knowledge, StatusEntry } from "../knowledge.js";
import type { Batch, StoredDataset } from "../stored-dataset.js";
import { type Reindexing, Reindexings } from "./reindexings.js";

/** A knowledge whose documents can be indexed anew. */
export interface DemoKnowledge extends Knowledge {
  /** Begins at once and takes so many seconds. Throws a 404 for an unknown document, a 400 for one that is being indexed. */
  reindex(documentId: string, seconds: number): Reindexing;
}

/** A knowledge over the datasets given, which stay as they are until somebody has a document indexed anew. */
export function demoKnowledge(stored: readonly StoredDataset[], clock: () => Date): DemoKnowledge {
  const reindexings = new Reindexings(stored, clock);
  let indexed = indexKnowledge(stored);
  let seen = reindexings.step();
  /** The knowledge of this moment, which is made anew only where a document has come a step further. */
  const current = (): Knowledge => {
    const step = reindexings.step();
    if (step !== seen) indexed = indexKnowledge(stored.map((dataset) => datasetNow(dataset, reindexings)));
    seen = step;
    return indexed;
  };
  return {
    metadataFields: (datasetId) => current().metadataFields(datasetId),
    chunks: (datasetId, documentId, query) => current().chunks(datasetId, documentId, query),
    childChunks: (datasetId, documentId, chunkId, query) =>
      current().childChunks(datasetId, documentId, chunkId, query),
    indexingStatus: (datasetId, batchId) => current().indexingStatus(datasetId, batchId),
    datasets: (query) => current().datasets(query),
    documents: (datasetId, query) => current().documents(datasetId, query),
    dataset: (id) => current().dataset(id),
    document: (datasetId, id) => current().document(datasetId, id),
    datasetMetadata: (datasetId) => current().datasetMetadata(datasetId),
    reindex: (documentId, seconds) => reindexings.begin(documentId, seconds),
  };
}

/** Batches, the old ones included, tell of a document what is so at the moment. */
function datasetNow({ row, documents, batches }: StoredDataset, reindexings: Reindexings): StoredDataset {
  const entryNow = (entry: StatusEntry) => reindexings.momentOf(entry.id)?.entry ?? entry;
  const batchNow = ({ id, entries }: Batch): Batch => ({ id, entries: () => entries().map(entryNow) });
  return {
    row,
    documents: documents.map((document) => reindexings.momentOf(document.row.id)?.document ?? document),
    batches: [...batches.map(batchNow), ...reindexings.batchesOf(row.id)],
  };
}
