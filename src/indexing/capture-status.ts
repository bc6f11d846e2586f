import type { KnowledgeApi } from "../client/knowledge-api.js";
import type { DatasetJob } from "../job/job.js";
import { type Drift, DriftCount, driftSchema } from "../rows/drift.js";
import { type Row, rowSchema } from "../rows/row.js";
import { listOf, object, text } from "../schema.js";
import { batchesOf, failureText, readBatches } from "./read-batches.js";

/** Rows of `indexing_status`, and a sentence for every batch that could not be read. */
export interface StatusReading {
  readonly rows: readonly Row[];
  readonly failures: readonly string[];
  readonly drift: Drift;
}

export const statusReadingSchema = object({ rows: listOf(rowSchema), failures: listOf(text), drift: driftSchema });

/** Asks for the indexing status of every batch once; rows stand in the order of the job, then of the service. */
export async function captureStatus(
  api: KnowledgeApi,
  datasets: readonly DatasetJob[],
  now: () => Date,
): Promise<StatusReading> {
  const count = new DriftCount();
  const readings = await readBatches(api, batchesOf(datasets), now, count.add);
  return {
    rows: readings.flatMap(({ rows }) => rows),
    failures: readings.flatMap((reading) => (reading.error ? [failureText(reading, reading.error)] : [])),
    drift: count.drift,
  };
}
