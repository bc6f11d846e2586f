import { createHash } from "node:crypto";
import type { Job } from "../../job/job.js";
import { serviceName } from "../../job/service-name.js";
import { tool } from "../../tool.js";

/** To be raised when what lies in a work folder changes. */
const workFormat = 4;

/**
 * A hash of everything that decides what is read and how its rows are written: work that an earlier run of the same plan
 * left can be continued. How fast, with which key, in which loaded formats and as which shard a job runs is not part of it.
 * `list` is the hash of the list of documents that the run was given; JSON leaves it out where there is none.
 */
export function planHash({ service, datasets, childChunks, consistency, output }: Job, list?: string): string {
  const plan = {
    version: tool.version,
    work: workFormat,
    service: serviceName(service),
    list,
    datasets,
    childChunks,
    consistency,
    keepSignatures: output.keepSignatures,
    csv: output.formats.includes("csv") && { safe: output.csvSafe },
  };
  return createHash("sha256").update(JSON.stringify(plan)).digest("hex");
}
