import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { bytesText } from "../../amounts.js";
import type { Bucket, ObjectFacts } from "../../bucket/bucket.js";
import { ifAbsent } from "../../dump/files/is-there.js";
import { fingerprint } from "../../dump/files/join-parts.js";
import type { Log } from "../../log.js";
import type { Hold } from "../work/job-folders.js";
import { moveAside } from "../work/move-aside.js";
import { removeFrom } from "../work/remove-from.js";
import { forgetBuilt } from "./tidy-work-folder.js";

/**
 * Makes the database in the work folder the one that was found in the bucket. It is fetched only if it is another; then databases that an
 * earlier run built upon the local one, and did not publish, go with it. Where the bucket has none, the local one is kept aside.
 */
export async function bringDatabase(
  bucket: Bucket,
  key: string,
  found: ObjectFacts | undefined,
  hold: Hold,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const local = await fingerprint(hold.database).catch(ifAbsent(undefined));
  const isSame = local && found ? local.sha256 === found.sha256 : local === found;
  if (isSame) return;
  await forgetBuilt(hold);
  if (!found) return keepLast(hold, log);
  log("info", `fetching ${bucket.url}/${key} (${bytesText(found.bytes)})`);
  const aside = join(hold.own, "fetched.duckdb");
  await rm(aside, { force: true });
  await bucket.fetchFile(key, aside, found, { signal });
  await removeLocal(hold);
  await rename(aside, hold.database);
}

/** Somebody removed the database from the bucket: the copy may be the last one of the history of runs that are gone. */
async function keepLast(hold: Hold, log: Log): Promise<void> {
  const aside = await moveAside(hold, hold.database);
  await removeLocal(hold);
  const problem = `${hold.shownDatabase} is gone, and is built again from the runs that are left`;
  log("warn", `${problem}. Its last copy is kept as ${aside}`);
}

/** The write-ahead log goes with its database: DuckDB would replay it on the next one. */
async function removeLocal(hold: Hold): Promise<void> {
  for (const path of [`${hold.database}.wal`, hold.database]) await removeFrom(hold, path);
}
