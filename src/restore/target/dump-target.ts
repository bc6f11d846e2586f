import type { Client } from "../../client/open-client.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { runJob } from "../../run/run-job.js";
import { withDefaults } from "../../run/setting/run-options.js";
import { emptyRunTally, type RunTally } from "../../run/setting/run-tally.js";
import { withClient } from "../../run/setting/with-client.js";
import type { TargetDocument, TargetService } from "../target-service.js";
import { type TargetReading, targetJob } from "./target-job.js";

/** A tally that has a place for the dump that is being made. */
export interface DumpTally {
  /** Undefined while no dump is made. */
  dump: RunTally | undefined;
}

/**
 * Dumps documents of the target as they stand, into a run of the folder `<dir>/<name>`. `consequence` says in errors what comes of a
 * dump that is not sound, such as `nothing was restored`. Rejects as a run does.
 */
export async function dumpTarget(
  service: TargetService,
  reading: TargetReading,
  tally: DumpTally,
  consequence: string,
): Promise<Dump> {
  tally.dump = emptyRunTally();
  try {
    const { folder } = await runJob(targetJob(reading, service), {
      ...runOptionsOf(service),
      tally: tally.dump,
      fresh: true,
    });
    return await openDump(folder, consequence);
  } finally {
    tally.dump = undefined;
  }
}

/** Opens the target for reading, for as long as `work` takes. The job of a client must name some documents, and asks for none. */
export async function withTarget<T>(
  service: TargetService,
  documents: readonly TargetDocument[],
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const job = targetJob({ name: "before", dir: ".", documents, hasChildren: false }, service);
  return withClient(job, withDefaults(runOptionsOf(service)), (client) => work(client));
}

function runOptionsOf({ env, keyEnv, key, signal, log, now }: TargetService) {
  return { env: key === undefined ? env : { ...env, [keyEnv]: key }, signal, log, now };
}
