import { type DemoKnowledge, demoKnowledge } from "../reindex.js";
import { buildDataset } from "./build-dataset.js";
import { outlines } from "./outlines.js";

/**
 * The sample data: about 5,000 chunks and 3,000 child chunks, always the same until one of its documents is indexed
 * anew. The batch under way counts the reads of this knowledge alone; `clock` says when they were.
 */
export function sampleKnowledge(clock: () => Date): DemoKnowledge {
  return demoKnowledge(
    outlines.map((outline) => buildDataset(outline, clock)),
    clock,
  );
}
