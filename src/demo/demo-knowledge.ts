import { indexKnowledge, type StoredDataset } from "./index-knowledge.js";
import type { Knowledge } from "./knowledge.js";
import { DocumentStore } from "./store/document-store.js";
import type { WritableKnowledge } from "./write/writable-knowledge.js";
import type { WriteOptions } from "./write/write-options.js";
import { Writes } from "./write/writes.js";

/** A knowledge in memory that changes: it can be written to, and its documents can be indexed anew. */
export interface DemoKnowledge {
  readonly reads: Knowledge;
  readonly writes: WritableKnowledge;
  /** The documents as they are now. */
  readonly store: DocumentStore;
}

/** A knowledge over the datasets given, which themselves stay as they are. */
export function demoKnowledge(
  stored: readonly StoredDataset[],
  clock: () => Date,
  options: WriteOptions = {},
): DemoKnowledge {
  const store = new DocumentStore(stored, clock);
  const knowledge = indexKnowledge(stored, store);
  const reads = {
    ...knowledge,
    /** Every batch, an old one too, tells of a document what is so at the moment. */
    async indexingStatus(datasetId: string, batchId: string) {
      const own = store.documentOfBatch(datasetId, batchId);
      const entries = own === undefined ? await knowledge.indexingStatus(datasetId, batchId) : [{ id: own }];
      return entries.map((entry) => store.statusEntry(entry.id) ?? entry);
    },
  };
  return { reads, writes: new Writes(store, options), store };
}
