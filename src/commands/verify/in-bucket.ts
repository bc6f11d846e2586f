import { manifestName } from "../../dump/manifest.js";
import { UsageError } from "../../errors.js";
import type { BucketNames } from "../../store/copy/bucket-names.js";

import { copyDatabase, mirrorRun } from "../../store/copy/copy-database.js";
import type { RunInBucket } from "../../store/find-run.js";
import type { Verification } from "../../verify/findings.js";

/** Verifies a folder, and compares it with a database if given. */
type VerifyFolder = (folder: string, database: boolean | string) => Promise<Verification>;

/**
 * Verifies a run as it is in the bucket now. Downloads all of it, even if damaged, and keeps it as the local copy if it is sound.
 * `duckdb`: also compare with the job's database, or with the one at this path.
 */
export async function verifyInBucket(
  { copy, run }: RunInBucket,
  duckdb: boolean | string,
  verify: VerifyFolder,
  names: BucketNames,
): Promise<Verification> {
  const database = duckdb === true ? await copyDatabase(copy) : duckdb;
  if (database === undefined) {
    const problem = {
      path: `${copy.url}/${copy.job}.duckdb`,
      message: "there is no such file; --duckdb=PATH names another",
    };
    throw new UsageError("There is no database to compare with:", [problem]);
  }
  const mirror = await mirrorRun(copy, run);
  try {
    const verification = named(await verify(mirror.folder, database), names);
    if (!mirror.isListed) return withStrangeManifest(verification);
    if (verification.status === "sound") await mirror.accept();
    return verification;
  } finally {
    await mirror.remove();
  }
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
