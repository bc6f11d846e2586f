import { createHash } from "node:crypto";
import type { Job } from "../../job/job.js";
import { tool } from "../../tool.js";

/** To be raised when what lies in a work folder changes. */
const workFormat = 3;

/**
 * A hash of everything that decides what is read and how its rows are written: work that an earlier run of the same plan
 * left can be continued. How fast, with which key and in which loaded formats a job runs is not part of it.
 */
export function planHash({ service, datasets, childChunks, consistency, output }: Job): string {
  const plan = {
    version: tool.version,
    work: workFormat,
    service: service.demo ? "demo" : service.baseUrl,
    datasets,
    childChunks,
    consistency,
    keepSignatures: output.keepSignatures,
    csv: output.formats.includes("csv") && { safe: output.csvSafe },
  };
  return createHash("sha256").update(JSON.stringify(plan)).digest("hex");
}
