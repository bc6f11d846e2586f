import { type Broker, openBroker } from "../../broker/open-broker.js";
import type { SharedBounds } from "../../client/shared-bounds.js";
import type { Job } from "../../job/job.js";
import { withBounds } from "./with-bounds.js";

/** The broker of a run that hands out its documents, and the bounds that it shares with its workers. */
export interface Workers {
  readonly broker: Broker;
  readonly shared: SharedBounds;
}

/** Opens the broker of a run for as long as `work` takes; `work` is given undefined where the run has no workers. */
export async function withWorkers<T>(
  job: Job,
  setting: Parameters<typeof withBounds>[2] & { readonly workers: string | undefined },
  work: (workers: Workers | undefined) => Promise<T>,
): Promise<T> {
  if (setting.workers === undefined) return work(undefined);
  const broker = await openBroker(setting.workers);
  try {
    return await withBounds(broker, job, setting, (shared) => work({ broker, shared }));
  } finally {
    broker.close();
  }
}
