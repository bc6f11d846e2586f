import { outlines } from "../../src/demo/sample/outlines.js";
import { datasetId, documentId } from "../../src/demo/sample/sample-knowledge.js";

/** The ids in a sample dataset, for use in jobs. */
interface SampleDataset {
  readonly id: string;
  readonly documents: readonly string[];
  readonly batches: readonly string[];
}

/** The ids of the sample data, in order. */
export function sampleDatasets(): readonly SampleDataset[] {
  return outlines.map((outline) => ({
    id: datasetId(outline),
    documents: outline.documents.map(({ name }) => documentId(outline, name)),
    batches: outline.batches.map(({ id }) => id),
  }));
}
