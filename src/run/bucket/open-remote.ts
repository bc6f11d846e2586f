import type { Bucket, Condition } from "../../bucket/bucket.js";
import { cleanUpBucket } from "../../bucket/clean-up.js";
import type { BucketHold } from "../../bucket/hold-bucket.js";
import { fingerprint } from "../../dump/files/join-parts.js";
import { StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import type { Log } from "../../log.js";
import type { Hold } from "../work/job-folders.js";
import type { Remote } from "../work/remote.js";
import { bringDatabase } from "./bring-database.js";
import { bringManifests } from "./bring-manifests.js";
import { fetchRun } from "./fetch-run.js";
import { outlastStore } from "./outlast-store.js";
import { stripRuns } from "./tidy-work-folder.js";
import { removeFolder, uploadRun } from "./upload-run.js";

export interface RemoteOptions {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The store ignores conditions. */
  readonly unsafe: boolean;
  /** Seconds for which the store may be gone while a run is uploaded. */
  readonly outage: number;
}

/** The key of the report of a job's newest run that had one. */
const reportKey = "report.html";

/**
 * Opens the bucket of a job for the run that holds it. Removes what earlier holders left in it, and makes the work folder one of the
 * runs that the head lists: their manifests, and nothing of other runs.
 */
export async function openRemote(
  bucket: Bucket,
  held: BucketHold,
  hold: Hold,
  { log, signal, unsafe, outage }: RemoteOptions,
): Promise<Remote> {
  await cleanUpBucket(bucket, held.head()).catch((error: unknown) => {
    log("warn", `what earlier runs left in ${bucket.url} could not be removed: ${problemText(error)}`);
  });
  await bringManifests(bucket, held.head(), hold, { log, signal });
  await stripRuns(hold);
  const databaseKey = `${bucket.url.slice(bucket.url.lastIndexOf("/") + 1)}.duckdb`;
  let database: Condition = "absent";

  /** The condition was taken while the job was held, so it fails once a successor has written there. */
  const replace = async (key: string, path: string, condition: Condition): Promise<Condition> => {
    const { sha256 } = await fingerprint(path);
    const before = unsafe ? (await bucket.look(key))?.etag : undefined;
    await held.confirm();
    const holds = !unsafe || before === (condition === "absent" ? undefined : condition.etag);
    const options = { sha256, signal, ...(unsafe ? {} : { condition }) };
    const written = holds ? await bucket.putFile(key, path, options) : "refused";
    if (written !== "refused") return written;
    await held.confirm();
    throw new StopError(`${bucket.url}/${key} was changed by an earlier run that woke late, or by hand`);
  };

  return {
    uploadRun: (manifest, stage, ends) => uploadRun(bucket, held, manifest, stage, { outage, log, signal: ends }),
    fetchRun: (runId, folder, ends) => fetchRun(bucket, held.head(), runId, folder, ends),
    bringDatabase: async (most) => {
      const found = await bucket.look(databaseKey);
      if (found && most !== undefined && found.bytes > most) return false;
      await bringDatabase(bucket, databaseKey, found, hold, { log, signal });
      database = found ? { etag: found.etag } : "absent";
      return true;
    },
    publishDatabase: async (path) => {
      database = await replace(databaseKey, path, database);
    },
    publishReport: async (path) => {
      const found = await bucket.look(reportKey);
      await replace(reportKey, path, found ? { etag: found.etag } : "absent");
    },
    dropRun: async (runId) => {
      const folder = held.head().runs.find(({ run_id }) => run_id === runId)?.folder;
      await held.dropRuns([runId]);
      if (folder === undefined) return;
      await removeFolder(bucket, folder).catch((error: unknown) => {
        log("warn", `some files of run ${runId} stay until the next run removes them: ${problemText(error)}`);
      });
    },
    bucket,
    outlast: (work) => outlastStore(work, { outage, log, signal }),
    confirm: () => held.confirm(),
  };
}
