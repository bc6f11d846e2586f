import { join } from "node:path";
import type { Bucket } from "../../bucket/bucket.js";
import type { BucketHold } from "../../bucket/hold-bucket.js";
import { removeBelow } from "../../bucket/remove-each.js";
import { fingerprint } from "../../dump/files/join-parts.js";
import { type ListedFile, listedFiles } from "../../dump/manifest/listed-files.js";
import { type Manifest, manifestName } from "../../dump/manifest/manifest.js";
import { StopError } from "../../errors.js";
import { forEachOf } from "../work/for-each-of.js";
import { isTrouble, outlastStore, type Patience } from "./outlast-store.js";

/** Files on their way at once. Of a large one, three parts are. */
const atOnce = 3;

/**
 * Uploads a staged run into a folder of its holder, the manifest last. Each file must have the SHA-256 of the manifest. Resolves to the
 * commit, which lists the run. Both outlast a store that is gone for a while. Where the upload fails, what was uploaded is removed again, as far as that is possible.
 */
export async function uploadRun(
  bucket: Bucket,
  held: BucketHold,
  manifest: Manifest,
  stage: string,
  patience: Patience,
): Promise<() => Promise<void>> {
  const { signal } = patience;
  const { run_id, status } = manifest;
  const folder = held.folderOf(run_id);
  const put = ({ path, sha256 }: ListedFile) =>
    outlastStore(() => bucket.putFile(`${folder}/${path}`, join(stage, path), { sha256, signal }), patience);
  const facts = await fingerprint(join(stage, manifestName));
  try {
    await forEachOf(listedFiles(manifest), atOnce, async (file) => {
      signal.throwIfAborted();
      await put(file);
    });
    await put({ path: manifestName, ...facts });
  } catch (error) {
    if (!held.lost.aborted) await removeFolder(bucket, folder).catch(() => {}); // else the successor removes it
    throw error;
  }
  const run = { run_id, status, folder, manifest: facts };
  return () =>
    outlastStore(() => held.commit(run, { isComplete: status === "complete" }), patience).catch((error: unknown) => {
      throw isTrouble(error) ? uncertain(error, bucket.url) : error;
    });
}

/** The error of a commit without an answer. */
function uncertain(error: StopError, url: string): StopError {
  const text = `${error.message}. The run may have been published nevertheless: kbdump list ${url} tells`;
  return new StopError(text, { cause: error });
}

/** Removes the files of a run that no head lists, or that none lists any more. */
export async function removeFolder(bucket: Bucket, folder: string): Promise<void> {
  await removeBelow(bucket, folder);
  for await (const upload of bucket.uploads(`${folder}/`)) await bucket.endUpload(upload); // last: some stores do not list them
}
