import type { Broker } from "../../broker/open-broker.js";
import type { Job } from "../../job/job.js";
import { serviceName } from "../../job/service-name.js";
import type { Log } from "../../log.js";
import { type OpenBounds, openSharedBounds } from "../../shared-bounds/open-shared-bounds.js";

export interface BoundsSetting {
  readonly log: Log;
  /** Requests in flight of this process at the most; undefined: as many as the service takes. */
  readonly inFlight?: number | undefined;
}

/** Keeps to the bounds that all processes which read the service of a job share, for as long as `work` takes. */
export async function withBounds<T>(
  broker: Broker,
  { service }: Pick<Job, "service">,
  { log, inFlight }: BoundsSetting,
  work: (shared: OpenBounds) => Promise<T>,
): Promise<T> {
  const { concurrency, maxRps } = service;
  const shared = openSharedBounds(broker, {
    service: serviceName(service),
    concurrency,
    maxRps,
    most: inFlight,
    say: (text, level) => log(level, text),
  });
  try {
    return await work(shared);
  } finally {
    await shared.close();
  }
}
