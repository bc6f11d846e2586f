import { basename, dirname, join, resolve } from "node:path";
import { isBucketUrl } from "../bucket/s3-url.js";
import { isThere } from "../dump/files/is-there.js";
import { type Problem, UsageError } from "../errors.js";
import type { JobPlace } from "../job/job.js";
import { isJobName } from "../job/job-name.js";
import { loadJobPlace } from "../job/load-job-place.js";
import { outputPlace } from "../job/output-place.js";
import { copyFrom, findInBucket, placeInBucket } from "./find-in-bucket.js";
import type { FindOptions, FoundJob, FoundThing } from "./found-thing.js";
import { jobsIn, lookAt } from "./look-at.js";
import { type Found, type Meaning, meaningOf, type Word, wordFrom } from "./meaning.js";

/** Finds what a word stands for. UsageError, with what there is instead, where it is none of all this. */
export async function findNamed(text: string, options: FindOptions): Promise<FoundThing> {
  if (isBucketUrl(text)) return findInBucket(text, options);
  const thing = await findPlace(text, options);
  return thing.kind === "job" ? withCopy(thing, options) : thing;
}

/** The same, but no bucket is asked: a job there may have shards, and nothing else yet. */
export async function findPlace(text: string, options: FindOptions): Promise<FoundThing> {
  if (isBucketUrl(text)) return placeInBucket(text);
  const { dir } = options;
  const word = wordFrom(text);
  const output = dir ?? "output";
  const sights = {
    whole: await lookAt(text),
    before: word.run === undefined ? ("nothing" as const) : await lookAt(word.before),
    job: isJobName(word.before) ? await lookForJob(output, word.before) : ("nothing" as const),
  };
  const meaning = meaningOf(word, sights);
  if (meaning.kind === "unknown") throw await nothingFound(word, sights.whole, output);
  return thingFrom(meaning, options);
}

/** A bucket is asked later, where the name means nothing else. */
async function lookForJob(output: string, name: string): Promise<Found> {
  return isBucketUrl(output) ? "job" : lookAt(join(output, name));
}

async function thingFrom(meaning: Exclude<Meaning, { kind: "unknown" }>, options: FindOptions): Promise<FoundThing> {
  const { dir, env } = options;
  if (meaning.kind === "run folder" || meaning.kind === "database") return meaning;
  const run = meaning.run === undefined ? {} : { run: meaning.run };
  if (meaning.kind === "job") return { kind: "job", place: placeAt(dir ?? "output", meaning.name), ...run };
  if (meaning.kind === "job folder") {
    const folder = resolve(meaning.folder);
    const parent = basename(folder) === basename(meaning.folder) ? dirname(meaning.folder) : dirname(folder);
    return { kind: "job", place: placeAt(parent, basename(folder)), ...run };
  }
  const place = await loadJobPlace(meaning.file, env);
  const output = dir === undefined ? place.output : { ...place.output, ...outputPlace(dir) };
  return { kind: "job", place: { ...place, output }, file: meaning.file, ...run };
}

/** The job with its copy, where it is kept in a bucket. */
async function withCopy(job: FoundJob, options: FindOptions): Promise<FoundJob> {
  const { name, output } = job.place;
  if (output.bucket === undefined) return job;
  const copy = await copyFrom(`${output.bucket}/${name}`, options);
  return { ...job, copy, place: { name, output: { ...output, dir: dirname(copy.folder) } } };
}

function placeAt(dir: string, name: string): JobPlace {
  return { name, output: { ...outputPlace(dir), keep: undefined } };
}

/** The error of a word that stands for nothing. */
async function nothingFound({ text, before }: Word, whole: Found, output: string): Promise<UsageError> {
  if (whole === "folder") return new UsageError("Not a finished run folder:", [await noManifest(text)]);
  if (whole === "other") {
    const message = "it is a file, but no job file and no database; expected a run folder, or the name of a job";
    return new UsageError("No such run or job:", [{ path: text, message }]);
  }
  if (!isJobName(before)) {
    const path = text === "" ? '""' : text;
    return new UsageError("No such run or job:", [{ path, message: "there is no such file or folder" }]);
  }
  const jobs = await jobsIn(output);
  const there =
    jobs === undefined
      ? `there is no folder ${output}`
      : jobs.length > 0
        ? `jobs there: ${listText(jobs)}`
        : "no job has run there";
  const message = `no file or folder has this name, and no job in ${output}; ${there}. --dir names another output folder`;
  return new UsageError("No such run or job:", [{ path: text, message }]);
}

/** The problem of a folder without a manifest; it names the run that was probably meant. */
async function noManifest(folder: string): Promise<Problem> {
  const jobs = (await jobsIn(folder)) ?? [];
  const near = [folder, ...jobs.map((name) => join(folder, name)), dirname(folder), dirname(dirname(folder))];
  for (const place of near) {
    const latest = join(place, "latest");
    if ((await isThere(latest)) && (await lookAt(latest)) === "run")
      return {
        path: folder,
        message: `no manifest.json in it. Did you mean ${latest}${jobs.length > 0 ? `, or --dir ${folder}` : ""}?`,
      };
  }
  return { path: folder, message: "no manifest.json in it, which a run writes last" };
}

/** The first names of a list. */
function listText(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}
