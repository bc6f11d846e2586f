import type { ConnectionOptions, ServiceOptions } from "../client/connections.js";
import { jobFileNames, type SettingNames } from "../client/failed-request.js";
import { type Client, type ClientOptions, openClient } from "../client/open-client.js";
import type { Log } from "../log.js";
import { type Label, settingName } from "./draft-from-file.js";
import type { Job } from "./job.js";
import { type KeyOptions, readKey, sourceOfKey } from "./read-key.js";
import { emptyRunProgress, type RunProgress } from "./run-progress.js";

/** The opened service of a job. It closes at the end of its scope. */
export interface OpenService extends AsyncDisposable {
  readonly client: Client;
  readonly baseUrl: string;
  /** The options for requests that do not go through the client; `timeout` in seconds. */
  readonly connecting: ConnectionOptions & ServiceOptions;
}

type OpenOptions = Pick<ClientOptions, "onAnswer" | "patient" | "onPause" | "maxRps" | "keySource">;

/** A service ready for requests. */
interface ReachedService {
  readonly baseUrl: string;
  readonly key: string;
  /** Stops the embedded service; does nothing for others. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the service of a job. `onAnswer` gets every answer. `patient`: wait while the service is down. A worker passes its own `maxRps`
 * and `onPause`. `keySource` names the source of the key if it is not the one in the job. Throws UsageError without a key.
 */
export async function openService(
  job: Job,
  { env, signal, progress, log }: Required<RunOptions>,
  { onAnswer, patient, onPause, maxRps = job.service.maxRps, keySource = sourceOfKey(job.service) }: OpenOptions = {},
): Promise<OpenService> {
  const { concurrency, timeout, retries, outage, maxBody, caFile } = job.service;
  const service = await reachService(job, env, { warn: (text) => log("warn", text), signal, source: keySource });
  const onRetry = (reason: string, wait: number) => log("warn", `${reason}; next try in ${(wait / 1000).toFixed(1)} s`);
  const { baseUrl, key } = service;
  const proxies = job.service.demo ? {} : env; // the embedded service needs no proxy
  const names = settingNames(job.labels);
  const connecting = { baseUrl, key, names, connections: concurrency, timeout, caFile, env: proxies };
  const client = openClient({
    ...connecting,
    ...(job.service.demo ? {} : { keySource }),
    concurrency,
    maxRps,
    retries,
    outage,
    maxBody,
    signal,
    progress: progress.requests,
    onRetry,
    say: (text) => log("warn", text),
    onAnswer,
    onPause,
    ...(patient ? { patient } : {}),
  });
  const close = async () => {
    await client.close();
    await service.close();
  };
  return { client, baseUrl, connecting, [Symbol.asyncDispose]: close };
}

/** The setting names for the client's messages: flags where a flag set them. */
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

/**
 * Returns the address and key of a job's service. For `service: {demo: true}`, starts the embedded service, which picks its
 * own port and key.
 */
async function reachService({ service }: Job, env: NodeJS.ProcessEnv, options: KeyOptions): Promise<ReachedService> {
  if (!service.demo) {
    return { baseUrl: service.baseUrl, key: await readKey(service, env, options), close: async () => {} };
  }
  const { startService } = await import("../demo/start-service.js");
  const { url, key, close } = await startService();
  return { baseUrl: url, key, close };
}

/** How far publishing is. `begun`: the run may or may not be published; `done`: it is, whatever happens; `failed`: it is not. */
export type CommitState = "begun" | "done" | "failed";

export interface RunOptions {
  /** Where to look up the key; default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Aborting it ends the run, which rejects with the reason. */
  readonly signal?: AbortSignal;
  /** The counts of the run, which it updates. */
  readonly progress?: RunProgress;
  readonly log?: Log;
  readonly now?: () => Date;
  /** Called before and after the rename that publishes the run. */
  readonly onCommit?: (state: CommitState) => void;
  /** Whether to start over, ignoring the work of an earlier run. */
  readonly fresh?: boolean;
  /** Whether to continue a published run with failed documents, reading only those. */
  readonly retryFailed?: boolean;
  /** Whether to write the report to `report.html`, next to the runs, after publishing. */
  readonly report?: boolean;
  /** The address of a broker, `redis://host:6379`, from which workers take documents; undefined: this process reads all of them. */
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
