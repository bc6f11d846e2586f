import type { Broker } from "../../broker/open-broker.js";
import type { TextFormat } from "../../dump/formats/format.js";
import type { OwnExchange } from "../../exchange/exchange.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import type { RunTally } from "../setting/run-tally.js";
import type { Workspace } from "../work/workspace.js";

/** The run whose documents workers read, and the places that it shares with them. */
export interface HandOutOptions {
  readonly job: Job;
  readonly workspace: Workspace;
  readonly formats: readonly TextFormat[];
  readonly tally: RunTally;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly broker: Broker;
  /** The place of this run that its workers share with it. */
  readonly exchange: OwnExchange;
  /** The hash of the list of documents that the run was given; undefined where it asked the service. */
  readonly list: string | undefined;
}

export interface SupervisionOptions extends HandOutOptions {
  /** Writes the list of documents and the plan into the exchange. */
  readonly announce: () => Promise<void>;
}
