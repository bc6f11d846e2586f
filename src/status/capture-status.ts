import type { KnowledgeApi } from "../client/knowledge-api.js";
import { runIdFrom } from "../dump/run-id.js";
import { SkipError } from "../errors.js";
import { type DatasetJob, type Job, namedDatasets } from "../job/job.js";
import { openService, type RunOptions, withDefaults } from "../job/open-service.js";
import { type Row, rowSchema } from "../rows/row.js";
import {
  type Drift,
  DriftCount,
  driftSchema,
  isoTime,
  type RowOptions,
  rowFromRecord,
} from "../rows/row-from-record.js";
import { listOf, object, text } from "../schema.js";
import { foldersOf, refuseLinks } from "../store/folder/job-folders.js";
import type { TakenStatus } from "./status-result.js";
import { addWaiting, leaveWaiting } from "./waiting-status.js";

/** Rows of `indexing_status`, with a sentence for every batch that could not be read. */
export interface StatusReading {
  readonly rows: readonly Row[];
  readonly failures: readonly string[];
  readonly drift: Drift;
}

export const statusReadingSchema = object({ rows: listOf(rowSchema), failures: listOf(text), drift: driftSchema });

/** Reads the indexing status of every batch once. Rows are in the order of the job, then of the service. */
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

export interface BatchRef {
  readonly datasetId: string;
  readonly batch: string;
}

/** The answer for one batch: rows of `indexing_status` in the service's order, or why it could not be read. */
export interface BatchReading extends BatchRef {
  readonly rows: readonly Row[];
  readonly error: SkipError | undefined;
}

/** Every batch of a job, in order. */
export function batchesOf(datasets: readonly DatasetJob[]): readonly BatchRef[] {
  return datasets.flatMap(({ id, batches }) => batches.map((batch) => ({ datasetId: id, batch })));
}

/** Reads the indexing status of every batch once, in order. Rejects with any error other than SkipError. */
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

/** Says why a batch could not be read. */
export function failureText({ batch }: BatchRef, error: SkipError): string {
  return `indexing status of batch ${JSON.stringify(batch)}: ${error.message}`;
}

async function readStatus(job: Job, context: Required<RunOptions>): Promise<StatusReading> {
  await using service = await openService(job, context);
  return await captureStatus(service.client, namedDatasets(job), context.now);
}

/** Records the indexing status of every batch of the job once, and adds it to the job's database. */
export async function takeStatus(job: Job, options: RunOptions = {}): Promise<TakenStatus> {
  const context = withDefaults(options);
  const reading = await readStatus(job, context);
  const folders = foldersOf(job);
  await refuseLinks(folders);
  await leaveWaiting(folders, runIdFrom(context.now()), reading.rows);
  return { ...reading, database: folders.shownDatabase, added: await addWaiting(job, context) };
}
