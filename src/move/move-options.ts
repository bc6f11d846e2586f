import type { TargetService } from "../restore/target-service.js";
import type { MoveFrom } from "./move-plan.js";
import type { MoveResult } from "./move-result.js";
import type { MoveTally } from "./move-tally.js";

/** The settings of `restore --to`, checked. Ids are in lower case, times in milliseconds. */
export interface MoveOptions extends TargetService {
  readonly key: string;
  /** Folder of the run. */
  readonly folder: string;
  /** `new`: a copy of its own. An id: that dataset. Undefined: that of the journal, else a new one. */
  readonly dataset: string | undefined;
  /** Documents to bring; none: all. */
  readonly documents: readonly string[];
  readonly from: MoveFrom;
  readonly apply: boolean;
  /** Whether documents that failed earlier are tried again. */
  readonly retryFailed: boolean;
  /** Time that one write may take. */
  readonly timeout: number;
  /** Time in which the effect of a lost answer may still show up. */
  readonly settle: number;
  /** How long the service may lock a document while it adds chunks, in milliseconds. */
  readonly lockTime: number;
  /** Updated while the work goes on. */
  readonly tally: MoveTally;
  /** Asks, before the first write, whether to go on with the plan. Called only with `apply`. */
  readonly confirm: (planned: MoveResult) => Promise<boolean>;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The move itself. UsageError where it is refused as a whole; BusyError where another restore of the run is at work. */
export type Move = (options: MoveOptions) => Promise<MoveResult>;
