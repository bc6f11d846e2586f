import { indexKnowledge, type StoredDataset } from "./index-knowledge.js";
import type { Knowledge } from "./knowledge.js";
import { DocumentStore } from "./store/document-store.js";
import { FileStore } from "./store/file-store.js";
import { DatasetWrites } from "./write/datasets.js";
import { DocumentWrites } from "./write/documents.js";
import { MetadataWrites } from "./write/metadata.js";
import { TagWrites } from "./write/tags.js";
import type { WritableKnowledge } from "./write/writable-knowledge.js";
import { type WriteOptions, withDefaults } from "./write/write-options.js";
import { Writes } from "./write/writes.js";

/** A knowledge in memory that changes: it can be written to, and its documents can be indexed again. `writes` are those to chunks. */
export interface DemoKnowledge {
  readonly reads: Knowledge;
  readonly writes: WritableKnowledge;
  readonly datasets: DatasetWrites;
  readonly documents: DocumentWrites;
  readonly metadata: MetadataWrites;
  readonly tags: TagWrites;
  /** The datasets and documents as they are now. */
  readonly store: DocumentStore;
  readonly files: FileStore;
  readonly options: Required<WriteOptions>;
}

/** A knowledge over the datasets given, which themselves stay as they are. */
export function demoKnowledge(
  stored: readonly StoredDataset[],
  clock: () => Date,
  options: WriteOptions = {},
): DemoKnowledge {
  const store = new DocumentStore(stored, clock);
  const known = withDefaults(options);
  const files = new FileStore();
  return {
    reads: indexKnowledge(store),
    writes: new Writes(store, files, known),
    datasets: new DatasetWrites(store, known),
    documents: new DocumentWrites(store, files, known),
    metadata: new MetadataWrites(store, known),
    tags: new TagWrites(store, known),
    store,
    files,
    options: known,
  };
}
