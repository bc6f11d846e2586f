import { runIdFrom } from "../dump/manifest/run-id.js";
import type { Job } from "../job/job.js";
import { namedDatasets } from "../job/named-datasets.js";
import { type RunOptions, withDefaults } from "../run/setting/run-options.js";
import { withClient } from "../run/setting/with-client.js";
import { foldersOf, refuseLinks } from "../run/work/job-folders.js";
import { addWaiting } from "./add-waiting.js";
import { captureStatus, type StatusReading } from "./capture-status.js";
import { leaveWaiting } from "./waiting-status.js";

/** A reading of the indexing status, and where it went. */
export interface TakenStatus extends StatusReading {
  readonly database: string;
  /** False: the rows wait beside the database until the next run adds them, because it is large or a run is at work. */
  readonly added: boolean;
}

/** Takes one snapshot of the indexing status of every batch of the job and adds it to the database of the job. */
export async function takeStatus(job: Job, options: RunOptions = {}): Promise<TakenStatus> {
  const setting = withDefaults(options);
  const reading = await withClient(job, setting, (api) => captureStatus(api, namedDatasets(job), setting.now));
  const folders = foldersOf(job);
  await refuseLinks(folders);
  await leaveWaiting(folders, runIdFrom(setting.now()), reading.rows);
  return { ...reading, database: folders.shownDatabase, added: await addWaiting(job, setting) };
}
