import type { Log } from "../../log.js";
import { emptyRunTally, type RunTally } from "./run-tally.js";

/** `begun`: it cannot be known whether the run is published; `done`: it is, whatever happens; `failed`: it is not. */
export type CommitState = "begun" | "done" | "failed";

export interface RunOptions {
  /** The environment in which the key is looked up; by default that of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the run; its reason is what the run rejects with. */
  readonly signal?: AbortSignal;
  /** Filled while the run goes on. */
  readonly tally?: RunTally;
  readonly log?: Log;
  readonly now?: () => Date;
  /** Called before and after the one rename that publishes the run. */
  readonly onCommit?: (state: CommitState) => void;
  /** Begin anew, whatever an earlier run left. */
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
    tally: options.tally ?? emptyRunTally(),
    log: options.log ?? (() => {}),
    now: options.now ?? (() => new Date()),
    onCommit: options.onCommit ?? (() => {}),
    fresh: options.fresh ?? false,
    retryFailed: options.retryFailed ?? false,
    report: options.report ?? false,
    workers: options.workers,
  };
}
