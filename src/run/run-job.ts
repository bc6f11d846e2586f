import type { Download } from "../client/download.js";
import type { Client } from "../client/open-client.js";
import type { Discovery } from "../crawl/discovery.js";
import { readGivenList } from "../crawl/document-list.js";
import { sayDiskError } from "../file-error.js";
import type { Job } from "../job/job.js";
import { type RunOptions, withClient, withDefaults } from "../job/open-service.js";
import { ownExchange } from "../parallel/exchange/open-exchange.js";
import { handOut, type Workers, withWorkers } from "../parallel/hand-out.js";
import { withRequestSum } from "../store/request-sum.js";
import type { Workspace } from "../store/workspace.js";
import type { Outputs } from "./finish-formats.js";
import { type Gathered, isDatabaseLeft, makeRun, type RunResult } from "./make-run.js";
import { type ReadAllOptions, readEverything } from "./read-everything.js";
import { type Telling, tellOutcome } from "./tell-outcome.js";
import { type Kept, withWorkspace } from "./with-workspace.js";

/**
 * The main job: reads everything that the job names, writes it in the formats asked for, and publishes it. Rejects with
 * StopError (nothing is published), UsageError (no key, or the wrong list of documents), BusyError, or the reason of `options.signal`. Tells of it as the
 * job's `notify` says, and keeps its metrics.
 */
export async function runJob(job: Job, options: RunOptions = {}): Promise<RunResult> {
  const setting = withDefaults(options);
  return tellOutcome(job, setting, (telling) => readAndPublish(job, setting, telling));
}

async function readAndPublish(job: Job, setting: Required<RunOptions>, { began, ends }: Telling): Promise<RunResult> {
  const list = job.documentsFrom === undefined ? undefined : await readGivenList(job.documentsFrom, job);
  const given = list?.discovery;
  return withWorkers(job, setting, (workers) =>
    withClient(
      job,
      setting,
      (client, baseUrl, download) =>
        withWorkspace(job, { ...setting, list: list?.sha256 }, keptBy(job), (workspace) => {
          began(workspace.runId, workspace);
          return ends(() =>
            makeRun(workspace, job, setting, (outputs, signal) => {
              const reached = { client, baseUrl, download, given, workers, list: list?.sha256 };
              return read(reached, outputs, { ...setting, job, workspace, signal });
            }),
          );
        }),
      workers,
    ),
  ).catch((error: unknown) => {
    throw sayDiskError(error, job.output.dir, setting.tally.step);
  });
}

/** A service, with what is needed to fetch files from it, and its documents where they are known. */
interface ReachedClient extends Pick<ReadAllOptions, "given"> {
  readonly client: Client;
  readonly baseUrl: string;
  readonly download: Download;
  readonly workers: Workers | undefined;
  /** The hash of the given list. */
  readonly list: string | undefined;
}

interface ReadSetting extends Required<RunOptions> {
  readonly job: Job;
  readonly workspace: Workspace;
}

/** Reads everything that the job names from its service. */
async function read(
  { client, baseUrl, download, given, workers, list }: ReachedClient,
  { formats }: Outputs,
  { job, workspace, tally, now, log, retryFailed, signal }: ReadSetting,
): Promise<Gathered> {
  signal.addEventListener("abort", () => client.stop(signal.reason), { once: true });
  return withRequestSum(workspace.work, tally.requests, async (requests) => {
    const handOutOver =
      ({ broker }: Workers) =>
      async (discovery: Discovery) => {
        const exchange = await ownExchange(workspace, workspace.runId);
        const ends = AbortSignal.any([signal, client.signal]); // a key that the service refuses ends the run at once
        await handOut(discovery, { job, workspace, formats, tally, log, signal: ends, broker, exchange, list });
      };
    const options = {
      ...{ job, workspace, formats, tally, now, log, retryFailed, baseUrl, download, given },
      handOut: workers && handOutOver(workers),
    };
    const reading = await readEverything(client, options);
    return { reading, baseUrl, requests: requests() };
  });
}

/**
 * A partial run can be improved on: `retryFailed` reads what failed, and nothing else. A database that could not take its
 * place waits for the next run.
 */
function keptBy(job: Job): (result: RunResult) => Kept {
  return (result) => {
    if (isDatabaseLeft(result, job)) return "everything";
    return result.manifest.status === "partial" ? "what was read" : "nothing";
  };
}
