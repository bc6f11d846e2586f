import { datasetId, documentId } from "./outline.js";
import { outlines } from "./outlines.js";

/** The ids of a sample dataset, so that jobs can name them. */
export interface SampleDataset {
  readonly id: string;
  readonly documents: readonly string[];
  readonly batches: readonly string[];
}

/** The ids in the sample data, in its order; no chunk is built for them. */
export function sampleDatasets(): readonly SampleDataset[] {
  return outlines.map((outline) => ({
    id: datasetId(outline),
    documents: outline.documents.map(({ name }) => documentId(outline, name)),
    batches: outline.batches.map(({ id }) => id),
  }));
}
