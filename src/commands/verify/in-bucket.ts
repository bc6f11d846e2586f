import type { BucketNames } from "../../cli/bucket-names.js";
import { manifestName } from "../../dump/manifest.js";
import { UsageError } from "../../errors.js";
import { fetchDatabaseOf, mirrorRun } from "../../store/bucket/fetch-run.js";
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
