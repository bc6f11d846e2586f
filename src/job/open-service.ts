import { type Download, openDownloads } from "../client/download.js";
import { jobFileNames, type SettingNames } from "../client/failed-request.js";
import { type Client, type ClientOptions, openClient } from "../client/open-client.js";
import type { Log } from "../log.js";
import { type Label, settingName } from "./draft-from-file.js";
import type { Job } from "./job.js";
import { type KeyOptions, readKey, sourceOfKey } from "./read-key.js";
import { emptyRunProgress, type RunProgress } from "./run-progress.js";

/** The service of a job, which can be asked until the end of its scope. */
export interface OpenService extends AsyncDisposable {
  readonly client: Client;
  readonly baseUrl: string;
  readonly download: Download;
}

/** A service that can be asked. */
interface ReachedService {
  readonly baseUrl: string;
  readonly key: string;
  /** Ends the embedded service; does nothing for any other. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the service of a job; `onAnswer` is shown every answer, who is `patient` waits for a service that is gone for a while, and
 * `shared` are the bounds of all processes that read it. UsageError when there is no key.
 */
export async function openService(
  job: Job,
  { env, signal, progress, log }: Required<RunOptions>,
  { onAnswer, patient, shared }: Pick<ClientOptions, "onAnswer" | "patient" | "shared"> = {},
): Promise<OpenService> {
  const { concurrency, maxRps, timeout, retries, outage, maxBody, caFile } = job.service;
  const service = await reachService(job, env, { warn: (text) => log("warn", text), signal });
  const onRetry = (reason: string, wait: number) => log("warn", `${reason}; next try in ${(wait / 1000).toFixed(1)} s`);
  const { baseUrl, key } = service;
  const proxies = job.service.demo ? {} : env; // no proxy leads to the embedded service
  const names = settingNames(job.labels);
  const client = openClient({
    baseUrl,
    key,
    ...(job.service.demo ? {} : { keySource: sourceOfKey(job.service) }),
    names,
    concurrency,
    maxRps,
    timeout,
    retries,
    outage,
    maxBody,
    caFile,
    env: proxies,
    signal,
    progress: progress.requests,
    onRetry,
    say: (text) => log("warn", text),
    onAnswer,
    shared,
    ...(patient ? { patient } : {}),
  });
  const connecting = { connections: concurrency, timeout, caFile, env: proxies, names };
  const downloads = openDownloads(client, { ...connecting, baseUrl, key, progress: progress.requests });
  const close = async () => {
    await client.close();
    await downloads.close();
    await service.close();
  };
  return { client, baseUrl, download: downloads.download, [Symbol.asyncDispose]: close };
}

/** The names that messages of the client have for settings: flags where there are any. */
export function settingNames(labels: readonly Label[]): SettingNames {
  const nameOf = (key: string) => settingName(labels, ["service", key]);
  return {
    baseUrl: nameOf("base_url") ?? jobFileNames.baseUrl,
    caFile: nameOf("ca_file") ?? jobFileNames.caFile,
    concurrency: nameOf("concurrency") ?? jobFileNames.concurrency,
    maxBody: nameOf("max_body"),
    outage: nameOf("outage"),
  };
}

/** `service: {demo: true}` starts the embedded service, which takes a port and a key of its own. */
async function reachService({ service }: Job, env: NodeJS.ProcessEnv, options: KeyOptions): Promise<ReachedService> {
  if (!service.demo) {
    return { baseUrl: service.baseUrl, key: await readKey(service, env, options), close: async () => {} };
  }
  const { startService } = await import("../demo/start-service.js");
  const { url, key, close } = await startService();
  return { baseUrl: url, key, close };
}

/** `begun`: it cannot be known whether the run is published; `done`: it is, whatever happens; `failed`: it is not. */
export type CommitState = "begun" | "done" | "failed";

export interface RunOptions {
  /** The environment in which the key is looked up; by default that of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the run; its reason is what the run rejects with. */
  readonly signal?: AbortSignal;
  /** Filled while the run goes on. */
  readonly progress?: RunProgress;
  readonly log?: Log;
  readonly now?: () => Date;
  /** Called before and after the one rename that publishes the run. */
  readonly onCommit?: (state: CommitState) => void;
  /** Start over, whatever an earlier run left. */
  readonly fresh?: boolean;
  /** Go on from a run that was published although documents failed: only these are read. */
  readonly retryFailed?: boolean;
  /** After the publication, write the report of the run to `report.html` beside the runs. */
  readonly report?: boolean;
  /** The address of a broker, `redis://host:6379`, over which workers take documents; undefined: this process reads them all. */
  readonly workers?: string | undefined;
}

/** The options with their defaults. */
export function withDefaults(options: RunOptions): Required<RunOptions> {
  return {
    env: options.env ?? process.env,
    signal: options.signal ?? new AbortController().signal,
    progress: options.progress ?? emptyRunProgress(),
    log: options.log ?? (() => {}),
    now: options.now ?? (() => new Date()),
    onCommit: options.onCommit ?? (() => {}),
    fresh: options.fresh ?? false,
    retryFailed: options.retryFailed ?? false,
    report: options.report ?? false,
    workers: options.workers,
  };
}
