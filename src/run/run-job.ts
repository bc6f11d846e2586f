import { join } from "node:path";
import { StopError } from "../errors.js";
import type { Job } from "../job/job.js";
import { sayDiskFull } from "./disk-full.js";
import type { Manifest } from "./manifest.js";
import { outputsOf } from "./outputs.js";
import { pruneAfterRun } from "./prune-job.js";
import { type Published, publishRun } from "./publish.js";
import { readEverything } from "./read-everything.js";
import type { Reading } from "./reading.js";
import { withRequestSum } from "./request-sum.js";
import { type RunOptions, withDefaults } from "./run-options.js";
import { stageRun } from "./stage-run.js";
import { tellOutcome } from "./tell-outcome.js";
import { joinWaiting, waitingFiles } from "./waiting-status.js";
import { withClient } from "./with-client.js";
import { withWorkspace } from "./workspace.js";

/** A published run: its manifest and where it lies. */
export interface RunResult extends Published {
  readonly manifest: Manifest;
  /** Ids of the runs that `output.keep` let go of. */
  readonly pruned: readonly string[];
}

/**
 * The main job: reads everything that the job names, writes it in the formats asked for, and publishes it. Rejects with
 * StopError (nothing is published), UsageError (no key), BusyError, or the reason of `options.signal`. Tells of it as the
 * job's `notify` says, and keeps its metrics.
 */
export async function runJob(job: Job, options: RunOptions = {}): Promise<RunResult> {
  const setting = withDefaults(options);
  return tellOutcome(job, setting, (began) => readAndPublish(job, setting, began));
}

async function readAndPublish(
  job: Job,
  setting: Required<RunOptions>,
  began: (runId: string) => void,
): Promise<RunResult> {
  return withClient(job, setting, (client, baseUrl) =>
    withWorkspace(job, setting, isPartial, async (workspace) => {
      began(workspace.runId);
      const signal = AbortSignal.any([setting.signal, workspace.lost]);
      signal.addEventListener("abort", () => client.stop(signal.reason), { once: true });
      const waiting = await waitingFiles(workspace);
      const joined = await joinWaiting(waiting, join(workspace.scratch, "waiting.jsonl"));
      const outputs = await outputsOf(job, workspace, joined, signal);

      const manifest = await withRequestSum(workspace.work, setting.tally.requests, async (requests) => {
        const reading = await readEverything(client, { ...setting, ...outputs, job, workspace });
        requireDocument(reading);
        return stageRun(reading, { ...setting, ...outputs, job, baseUrl, workspace, signal, requests });
      });
      signal.throwIfAborted();
      const published = await publishRun(manifest, workspace, outputs.newDatabase, waiting);
      return { manifest, ...published, pruned: await pruneAfterRun(job, workspace, setting) };
    }),
  ).catch((error: unknown) => {
    throw sayDiskFull(error, job.output.dir, setting.tally.step);
  });
}

/** A partial run can be improved on: `retryFailed` reads what failed, and nothing else. */
function isPartial({ manifest }: RunResult): boolean {
  return manifest.status === "partial";
}

/** A run of which no document could be read is no dump, and says why. */
function requireDocument({ documents }: Reading): void {
  const [first] = documents;
  if (!first || documents.some(({ row }) => row.status !== "failed")) return;
  const which = documents.length === 1 ? "the document" : `none of the ${documents.length} documents`;
  const what = documents.length === 1 ? "could not be read" : "could be read; the first";
  throw new StopError(`${which} ${what}: ${first.row.error}`);
}
