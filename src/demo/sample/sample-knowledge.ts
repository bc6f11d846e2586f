import { type DemoKnowledge, demoKnowledge } from "../demo-knowledge.js";
import type { WriteOptions } from "../write/write-options.js";
import { buildDataset } from "./build-dataset.js";
import { outlines } from "./outlines.js";

/**
 * The sample data: about 5,000 chunks and 3,000 child chunks, always the same until something is written or a document is
 * indexed anew. The batch under way counts the reads of this knowledge alone; `clock` says when they were.
 */
export function sampleKnowledge(clock: () => Date, options: WriteOptions = {}): DemoKnowledge {
  return demoKnowledge(
    outlines.map((outline) => buildDataset(outline, clock)),
    clock,
    options,
  );
}
