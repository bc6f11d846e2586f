import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { bytesText } from "../../amounts.js";
import type { Bucket, Looked } from "../../bucket/bucket.js";
import { ifAbsent } from "../../dump/files/is-there.js";
import { fingerprint } from "../../dump/files/join-parts.js";
import { StopError } from "../../errors.js";
import type { Log } from "../../log.js";
import type { Hold } from "../work/job-folders.js";
import { removeFrom } from "../work/remove-from.js";
import { forgetBuilt } from "./tidy-work-folder.js";

/**
 * Makes the database in the work folder the one that was found in the bucket. It is fetched only if it is another; then databases that an
 * earlier run built upon the local one, and did not publish, go with it.
 */
export async function bringDatabase(
  bucket: Bucket,
  key: string,
  found: Looked | undefined,
  hold: Hold,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  if (found && found.sha256 === undefined)
    throw new StopError(
      `${bucket.url}/${key} was not written by kbdump, so it is not replaced. Move it away; the next run builds a new one from the runs`,
    );
  const local = await fingerprint(hold.database).catch(ifAbsent(undefined));
  if (local?.sha256 === found?.sha256) return;
  await forgetBuilt(hold);
  if (found?.sha256 === undefined) return removeLocal(hold);
  const { sha256, bytes } = found;
  log("info", `fetching ${bucket.url}/${key} (${bytesText(bytes)})`);
  const aside = join(hold.own, "fetched.duckdb");
  await rm(aside, { force: true });
  await bucket.fetchFile(key, aside, { bytes, sha256 }, { signal });
  await removeLocal(hold);
  await rename(aside, hold.database);
}

/** The write-ahead log goes with its database: DuckDB would replay it on the next one. */
async function removeLocal(hold: Hold): Promise<void> {
  for (const path of [`${hold.database}.wal`, hold.database]) await removeFrom(hold, path);
}
