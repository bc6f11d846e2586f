import * as v from "valibot";
import type { DocumentRef } from "../client/knowledge-api.js";
import { isRunId } from "../dump/run-id.js";
import type { Job } from "../job/job.js";
import { object, text } from "../schema.js";
import { planHash } from "../segments/resume.js";
import { tool } from "../tool.js";

/** A run, and everything that a worker must agree with. It is in each batch, and in `plan.json` in the exchange. */
export const planSchema = object({
  /** The run. Its id is part of a path, so it must be valid: a broker may send anything. */
  run_id: v.pipe(text, v.check(isRunId)),
  /** The plan hash of the coordinator. */
  plan: text,
  version: text,
  /** The hash of the given list of documents; null if the run asked the service. */
  list: v.nullable(text),
});
export type RunPlan = v.InferOutput<typeof planSchema>;

/** The content of `plan.json`. */
export function planText({ run_id, plan, version, list }: RunPlan): string {
  return JSON.stringify({ run_id, plan, version, list });
}

/**
 * Why a worker refuses the batches of a run; undefined if it accepts them. `found`: the text of `plan.json` in the shared output;
 * undefined if the worker does not find it.
 */
export function reasonToRefuse(run: RunPlan, found: string | undefined, job: Job): string | undefined {
  if (run.version !== tool.version) return `the run is of kbdump ${run.version}, this worker is ${tool.version}`;
  if (run.plan !== planHash(job, run.list ?? undefined))
    return "this worker's job file does not read the same data as the run's";
  if (found === undefined)
    return `this worker cannot find run ${run.run_id} in its output; it must use the same folder or bucket as the run`;
  return found === planText(run) ? undefined : `run ${run.run_id} is not the run of its exchange`;
}

/** Returns a function that finds a document in the job, with its dataset's filter; undefined if the job does not include it. */
export function documentsOf({
  datasets,
}: Pick<Job, "datasets">): (document: {
  readonly dataset_id: string;
  readonly document_id: string;
}) => DocumentRef | undefined {
  if (datasets === "all")
    return ({ dataset_id, document_id }) => ({
      ...{ datasetId: dataset_id, documentId: document_id, status: [], keyword: undefined },
    });
  const asked = new Map(
    datasets.map(({ documents, ...dataset }) => [
      dataset.id,
      { ...dataset, documents: documents === "all" ? undefined : new Set(documents) },
    ]),
  );
  return ({ dataset_id: datasetId, document_id: documentId }) => {
    const dataset = asked.get(datasetId);
    if (!dataset || dataset.documents?.has(documentId) === false) return undefined;
    return { datasetId, documentId, status: dataset.status, keyword: dataset.keyword };
  };
}
