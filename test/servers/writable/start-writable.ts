import type { StoredDataset } from "../../../src/demo/rows.js";
import { type RunningService, startService } from "../../../src/demo/start-service.js";
import { type WriteOptions, writableKnowledge } from "./writable-knowledge.js";

/** Starts a service with these datasets that accepts all writes. */
export function startWritable(datasets: readonly StoredDataset[], options: WriteOptions = {}): Promise<RunningService> {
  return startService({ demo: writableKnowledge(datasets, () => new Date(), options) });
}
