import type { KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import type { DatasetJob } from "../job/job.js";
import { isoTime } from "../normalise/convert.js";
import { type Drift, DriftCount } from "../normalise/drift.js";
import { type Row, rowFromRecord } from "../normalise/row-from-record.js";

/** Rows of `indexing_status`, and a sentence for every batch that could not be read. */
export interface StatusReading {
  readonly rows: readonly Row[];
  readonly failures: readonly string[];
  readonly drift: Drift;
}

/** Asks for the indexing status of every batch once; rows stand in the order of the job, then of the service. */
export async function captureStatus(
  api: KnowledgeApi,
  datasets: readonly DatasetJob[],
  now: () => Date,
): Promise<StatusReading> {
  const count = new DriftCount();
  const options = { keepSignatures: true, drift: count.add };
  const batches = datasets.flatMap(({ id, batches }) => batches.map((batch) => ({ datasetId: id, batch })));
  const readings = await Promise.all(
    batches.map(async ({ datasetId, batch }) => {
      try {
        const entries = await api.indexingStatus(datasetId, batch);
        const known = { captured_at: isoTime(now().getTime() / 1000), dataset_id: datasetId, batch };
        return { rows: entries.map((entry) => rowFromRecord("indexing_status", entry, known, options)), failures: [] };
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
        return { rows: [], failures: [`indexing status of batch ${JSON.stringify(batch)}: ${error.message}`] };
      }
    }),
  );
  return {
    rows: readings.flatMap(({ rows }) => rows),
    failures: readings.flatMap(({ failures }) => failures),
    drift: count.drift,
  };
}
