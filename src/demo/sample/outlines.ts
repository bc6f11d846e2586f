import { companyHandbook } from "./company-handbook.js";
import { type DatasetOutline, datasetId, documentId } from "./outline.js";
import { productKnowledge } from "./product-knowledge.js";

/** Every dataset of the sample. */
export const outlines: readonly DatasetOutline[] = [productKnowledge, companyHandbook];

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
