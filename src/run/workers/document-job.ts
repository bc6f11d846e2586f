import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Job } from "../../job/job.js";
import { serviceName } from "../../job/service-name.js";
import { object, pattern, text } from "../../schema.js";
import type { ExchangePlan } from "./exchange-files.js";

/** A document in the queue. It names no URL and no key: a worker takes both from its own job file. */
export const documentJobSchema = object({
  run_id: text,
  queue_id: text,
  plan: text,
  version: text,
  dataset_id: text,
  document_id: text,
  /** The name of its parts. */
  name: pattern("the name of parts", /^[0-9a-f]{7,32}$/),
  /** The worker that tried it before, which leaves it to others. */
  tried_by: v.optional(text),
});

export type DocumentJob = v.InferOutput<typeof documentJobSchema>;

/** The queue of a job: one for all of its runs, whatever the output. */
export function queueName({ name, service }: Pick<Job, "name" | "service">): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([serviceName(service), name]))
    .digest("hex");
  return `kbdump-${name}-${hash.slice(0, 8)}`;
}

/** The id of a document in the queue: adding it twice is harmless. */
export function jobIdOf(queueId: string, name: string): string {
  return `${queueId}-${name}`;
}

/** The name of a document that has such an id in this run; undefined for those of other runs. */
export function nameFromJobId(queueId: string, jobId: string): string | undefined {
  return jobId.startsWith(`${queueId}-`) ? jobId.slice(queueId.length + 1) : undefined;
}

/** The facts of a worker that decide whether it may read for a run. */
export interface OwnFacts {
  readonly version: string;
  /** The plan hash of its own job file. */
  readonly plan: string;
}

/**
 * Says why a worker refuses a document; undefined where it takes it. `exchange` is what the coordinator wrote into the output that both
 * share; undefined where the worker does not find it there.
 */
export function refusalOf(job: DocumentJob, exchange: ExchangePlan | undefined, own: OwnFacts): string | undefined {
  if (job.version !== own.version) return `the run is of kbdump ${job.version}, this worker is ${own.version}`;
  if (job.plan !== own.plan) return "the job file of this worker asks for other things than that of the run";
  if (!exchange)
    return `this worker does not find run ${job.run_id} in its output: both must share the folder or bucket`;
  const isIts = (["run_id", "queue_id", "plan", "version"] as const).every((fact) => exchange[fact] === job[fact]);
  return isIts ? undefined : `run ${job.run_id} is not the one that its exchange is of`;
}
