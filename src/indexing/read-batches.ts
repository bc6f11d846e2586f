import type { KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import type { DatasetJob } from "../job/job.js";
import { isoTime } from "../rows/convert.js";
import type { Row } from "../rows/row.js";
import { type RowOptions, rowFromRecord } from "../rows/row-from-record.js";

/** One batch of a job. */
export interface BatchRef {
  readonly datasetId: string;
  readonly batch: string;
}

/** The answer for one batch: rows of `indexing_status` in the order of the service, or why it could not be read. */
export interface BatchReading extends BatchRef {
  readonly rows: readonly Row[];
  readonly error: SkipError | undefined;
}

/** Every batch of a job, in its order. */
export function batchesOf(datasets: readonly DatasetJob[]): readonly BatchRef[] {
  return datasets.flatMap(({ id, batches }) => batches.map((batch) => ({ datasetId: id, batch })));
}

/** Asks for the indexing status of every batch once, and answers in the same order. What is no SkipError rejects. */
export async function readBatches(
  api: Pick<KnowledgeApi, "indexingStatus">,
  batches: readonly BatchRef[],
  now: () => Date,
  drift: RowOptions["drift"],
): Promise<readonly BatchReading[]> {
  return Promise.all(
    batches.map(async ({ datasetId, batch }) => {
      try {
        const entries = await api.indexingStatus(datasetId, batch);
        const known = { captured_at: isoTime(now().getTime() / 1000), dataset_id: datasetId, batch };
        const options = { keepSignatures: true, drift };
        const rows = entries.map((entry) => rowFromRecord("indexing_status", entry, known, options));
        return { datasetId, batch, rows, error: undefined };
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
        return { datasetId, batch, rows: [], error };
      }
    }),
  );
}

/** Why a batch could not be read, as a sentence. */
export function failureText({ batch }: BatchRef, error: SkipError): string {
  return `indexing status of batch ${JSON.stringify(batch)}: ${error.message}`;
}
