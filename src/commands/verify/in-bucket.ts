import { join } from "node:path";
import type { BucketNames } from "../../cli/bucket-names.js";
import { manifestName } from "../../dump/manifest.js";
import { StopError, UsageError } from "../../errors.js";
import { fingerprint } from "../../files/join-segments.js";
import { copyInto, fetchDatabaseOf, fetchFiles, type JobCopy, type WantedFile } from "../../store/bucket/fetch-run.js";
import type { BucketRun } from "../../store/bucket/head.js";
import type { RunInBucket } from "../../store/find-run.js";
import type { Verification } from "../../verify/findings.js";

/** Verifies a folder, and compares it with a database if given. */
type VerifyFolder = (folder: string, database: boolean | string) => Promise<Verification>;

/**
 * Verifies a run as it is in the bucket now. Downloads all of it, even if damaged.
 * `duckdb`: also compare with the job's database, or with the one at this path.
 */
export async function verifyInBucket(
  { copy, run }: RunInBucket,
  duckdb: boolean | string,
  verify: VerifyFolder,
  names: BucketNames,
): Promise<Verification> {
  const database = duckdb === true ? await fetchDatabaseOf(copy) : duckdb;
  if (database === undefined) {
    const problem = {
      path: `${copy.url}/${copy.job}.duckdb`,
      message: "there is no such file; --duckdb=PATH names another",
    };
    throw new UsageError("There is no database to compare with:", [problem]);
  }
  const { folder, isListed } = await mirrorRun(copy, run);
  const verification = named(await verify(folder, database), names);
  return isListed ? verification : withStrangeManifest(verification);
}

/**
 * Fetches every object in the folder of a run, to verify the bucket's files. `isListed`: whether manifest.json is the one that
 * head.json lists. Throws StopError if the run is removed meanwhile.
 */
async function mirrorRun(job: JobCopy, run: BucketRun): Promise<{ folder: string; isListed: boolean }> {
  return copyInto(job, run, async (bucket, folder) => {
    const files: WantedFile[] = [];
    for await (const { key, bytes } of bucket.list(`${run.folder}/`)) {
      const path = key.slice(run.folder.length + 1);
      if (isSafe(path)) files.push({ key, path, bytes, sha256: undefined });
    }
    if (!files.some(({ path }) => path === manifestName)) throw noManifest(job, run);
    await fetchFiles(bucket, folder, files, { ...job.options, step: `fetching run ${run.run_id}` });
    const { sha256 } = await fingerprint(join(folder, manifestName));
    return { folder, isListed: sha256 === run.manifest.sha256 };
  });
}

function noManifest({ url }: JobCopy, { folder, run_id }: BucketRun): StopError {
  const problem = `${url}/${folder}/${manifestName} is not there, although head.json lists the run`;
  return new StopError(`${problem}: something other than kbdump removed it. Use another run than ${run_id}`);
}

/** Whether a path stays inside its folder. Runs write only safe paths. */
function isSafe(path: string): boolean {
  return !/[\\\p{Cc}]/u.test(path) && path.split("/").every((name) => !["", ".", ".."].includes(name));
}

function named(verification: Verification, names: BucketNames): Verification {
  const { checked } = verification;
  const { database } = checked;
  const shown = database && { ...database, path: names(database.path) };
  return { ...verification, checked: { ...checked, folder: names(checked.folder), database: shown } };
}

function withStrangeManifest(verification: Verification): Verification {
  const finding = { file: manifestName, message: "is not the one that head.json lists: it has another SHA-256" };
  const findings = [finding, ...verification.findings];
  return { ...verification, status: "differences", findings, finding_count: verification.finding_count + 1 };
}
