import type { RestoreResult } from "./restore-result.js";
import type { RestoreTally } from "./restore-tally.js";
import type { TargetService } from "./target-service.js";

/** The settings of `restore --lost`, checked. Ids are in lower case, times in milliseconds. */
export interface RestoreOptions extends Omit<TargetService, "baseUrl"> {
  /** Folder of the older run. */
  readonly folder: string;
  /** Folder of a newer run of the same job, to plan against without a request. */
  readonly against: string | undefined;
  /** Documents to restore, whether or not they have a sign of a hand; none: every document that has one. */
  readonly documents: readonly string[];
  /** Chunks and child chunks of the older run that the owner chose. */
  readonly chunks: readonly string[];
  /** Whether chunks that were added by hand and then disabled are added, too. */
  readonly addDisabled: boolean;
  readonly apply: boolean;
  /** Base URL of the service to restore to; undefined: the one that the run came from. */
  readonly to: string | undefined;
  /** The service that the owner's own settings name, which a run must come from unless `to` is given; undefined: they name none. */
  readonly own: OwnService | undefined;
  /** Time that one write may take. */
  readonly timeout: number;
  /** Time in which the effect of a lost answer may still show up. */
  readonly settle: number;
  /** How long the service may lock a document while it adds chunks, in milliseconds. */
  readonly lockTime: number;
  /** Updated while the work goes on. */
  readonly tally: RestoreTally;
  /** Asks, before the first write, whether to go on with the plan. Called only with `apply`. */
  readonly confirm: (planned: RestoreResult) => Promise<Confirmed>;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** A service that a job file or the environment names. */
export interface OwnService {
  readonly url: string;
  /** The job file or the variable. */
  readonly place: string;
}

/** The answer of the owner to a plan. */
export interface Confirmed {
  /** False: nothing is written, and the result is `planned`. */
  readonly go: boolean;
  /** Ids of listed rows to restore, too, as if they had been in `chunks`. */
  readonly chosen: readonly string[];
}

/** The restore itself. UsageError where it is refused as a whole; BusyError where another restore of the run is at work. */
export type RestoreLost = (options: RestoreOptions) => Promise<RestoreResult>;
