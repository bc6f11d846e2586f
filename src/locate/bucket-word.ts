import { placeFromUrl, urlOfPlace } from "../bucket/s3-url.js";
import { isRunId } from "../dump/manifest/run-id.js";
import { UsageError } from "../errors.js";
import { isJobName } from "../job/job-name.js";
import { wordFrom } from "./meaning.js";

/** The parts of a word that begins with `s3://`. */
export interface BucketWord {
  /** The place of the job: `s3://bucket/prefix/<job>`. */
  readonly url: string;
  /** The id of a run of it, or its beginning. */
  readonly run?: string;
  /** The folder of the run, where the word names that: `runs/<run_id>.<epoch>-<token>`. */
  readonly folder?: string;
  /** The word names the database of the job. */
  readonly isDatabase?: true;
}

const runPath = /^(.+)\/(runs\/(\d{8}T\d{9}Z)(?:\.\d{1,15}-[0-9a-f]{8})?)$/;

/**
 * Takes a word apart that names something in a bucket: a job, a run of it behind an `@`, the folder of a run, or the database of a job.
 * UsageError for anything else.
 */
export function bucketWordFrom(text: string): BucketWord {
  const { before, run } = wordFrom(text.replace(/\/+$/, ""));
  const path = urlOfPlace(placeFromUrl(before));
  const [, jobOfRun, folder = "", runId = ""] = runPath.exec(path) ?? [];
  if (jobOfRun !== undefined && run === undefined && isRunId(runId)) {
    const isWhole = folder.includes(".");
    return { url: jobUrl(jobOfRun, text), run: runId, ...(isWhole ? { folder } : {}) };
  }
  const [, jobOfDatabase, name] = /^(.+)\/([^/]+)\.duckdb$/.exec(path) ?? [];
  if (jobOfDatabase?.endsWith(`/${name}`) && run === undefined)
    return { url: jobUrl(jobOfDatabase, text), isDatabase: true };
  return { url: jobUrl(path, text), ...(run === undefined ? {} : { run }) };
}

function jobUrl(url: string, text: string): string {
  const { prefix } = placeFromUrl(url);
  if (isJobName(prefix.slice(prefix.lastIndexOf("/") + 1))) return url;
  const message =
    "expected a job in a bucket, s3://bucket/prefix/<job>, or a run of it: s3://bucket/prefix/<job>@20261120";
  throw new UsageError("No such run or job:", [{ path: text, message }]);
}
