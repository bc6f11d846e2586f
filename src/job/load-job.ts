import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, parse } from "node:path";
import * as v from "valibot";
import { type Problem, UsageError } from "../errors.js";
import { fileText, looksLikeKey } from "../safe-text.js";
import { checkJob } from "./check-job.js";
import { type Draft, draftFromFile, draftFromRecord, type Label, settingName } from "./draft-from-file.js";
import {
  type DatasetJob,
  type Job,
  type JobLocation,
  notifyFromFile,
  outputFromFile,
  outputLocation,
  serviceFromFile,
} from "./job.js";
import { type Finding, isWithin, joinFindings, pathText } from "./job-findings.js";
import {
  batchFlag,
  type GivenFlag,
  itemsOf,
  type JobFlags,
  mergeFlags,
  overridingFlags,
  sourceFlags,
} from "./merge-flags.js";
import { readText } from "./read-key.js";
import { type JobFile, locationEntries } from "./schema/job-schema.js";
import { nearestName } from "./schema/shapes.js";

/** The source of a job: a file, the job file recorded by a run, or flags only. */
export type JobSource =
  | { readonly file: string }
  | { readonly what: string; readonly recorded: unknown }
  | { readonly none: true };

/**
 * Reads and checks a job. Throws only UsageError, with every problem of file and flags at once. Without `notifies`, the variables
 * of `notify` may be unset, and the job then sends no notifications.
 */
export async function loadJob(
  source: JobSource,
  flags: JobFlags,
  env: NodeJS.ProcessEnv,
  { notifies = true }: { readonly notifies?: boolean } = {},
): Promise<Job> {
  if ("none" in source) return jobFromDraft(draftFromFlags(flags));
  if ("recorded" in source) return jobFromDraft(draftFromRecord(source.what, source.recorded, flags));
  const missing = await missingJobFile(source.file);
  if (missing) throw missing;
  const text = await readText(source.file, "the job file");
  return jobFromDraft(draftFromFile(source.file, text, flags, { env, notifies }));
}

/** Checks a draft and returns the job. Throws UsageError with every problem. */
export function jobFromDraft(draft: Draft): Job {
  const { file, unknownKeys, wrongValues } = checkJob(draft.document, draft.written);
  const findings = joinFindings(unknownKeys, draft.unset, wrongValues);
  if (draft.problems.length + findings.length === 0 && file) return jobFromFile(file, draft.labels);
  throw jobRefusal(draft, findings);
}

/** The error for a draft that is not a valid job, with every problem. */
function jobRefusal(draft: Draft, findings: readonly Finding[]): UsageError {
  const problems = [...draft.problems, ...findings.map((finding) => problemFrom(finding, draft.labels))];
  return new UsageError(`${countText(problems.length)} with ${draft.what}:`, problems);
}

function problemFrom({ path, message }: Finding, labels: readonly Label[]): Problem {
  return { path: settingName(labels, path) ?? pathText(path), message };
}

function countText(count: number): string {
  return count === 1 ? "1 problem" : `${count} problems`;
}

type Named = Exclude<JobFile["datasets"], "all">[number];

/**
 * Converts a job file to a job: the program's names, units and defaults. A file without a name is named after its first dataset.
 * `labels`: the flags that set settings.
 */
export function jobFromFile(file: JobFile, labels: readonly Label[]): Job {
  const { datasets } = file;
  return {
    name: file.name ?? (datasets === "all" ? "all" : (datasets[0]?.id ?? "")),
    service: serviceFromFile(file.service),
    datasets: datasets === "all" ? "all" : datasets.map(datasetFromFile),
    childChunks: file.child_chunks,
    consistency: file.consistency,
    details: file.details,
    originals: file.originals,
    resumeWithin: file.resume_within,
    output: outputFromFile(file.output),
    notify: file.notify && notifyFromFile(file.notify),
    labels,
    shard: undefined,
    documentsFrom: undefined,
  };
}

function datasetFromFile(dataset: Named): DatasetJob {
  return {
    id: dataset.id,
    documents: dataset.documents,
    batches: dataset.batches,
    status: dataset.status,
    keyword: dataset.keyword,
  };
}

/** The flags to name in errors, instead of job-file keys, for a job made only of flags. */
const sourceLabels: readonly Label[] = [
  { path: ["service", "base_url"], text: "--base-url" },
  { path: ["datasets", 0, "id"], text: "--dataset" },
  { path: ["datasets", 0, "documents"], text: "--document" },
  { path: ["datasets", 0, "batches"], text: "--batch" },
  { path: ["name"], text: "--name" },
  { path: ["service", "concurrency"], text: "--concurrency" },
];

/** An unchecked job made only of flags: one dataset of a service, or all. */
function draftFromFlags(flags: JobFlags): Draft {
  const given = overridingFlags(flags);
  const source = { name: flags.name, service: { base_url: flags.baseUrl }, datasets: datasetsFrom(flags) };
  const document = mergeFlags(source, given);
  return {
    what: "the command line",
    document,
    written: document,
    labels: [...sourceLabels, ...given.map(({ flag, path }) => ({ text: flag, path }))],
    unset: [],
    problems:
      flags.dataset === "all" ? [...sourceFlags(flags), ...batchFlag(flags)].filter(isOfOneDataset).map(refuse) : [],
  };
}

function datasetsFrom({ dataset, document, batch }: JobFlags): unknown {
  if (dataset === "all") return "all";
  return [{ id: dataset, documents: saysAll(document) ? "all" : itemsOf(document), batches: itemsOf(batch) }];
}

function isOfOneDataset({ flag, value }: GivenFlag): boolean {
  return flag === "--batch" || (flag === "--document" && !saysAll(value));
}

function saysAll(value: unknown): boolean {
  return Array.isArray(value) && value.length === 1 && value[0] === "all";
}

function refuse({ flag }: GivenFlag): Problem {
  return { path: flag, message: "not together with --dataset all, which reads every document of every dataset" };
}

/** The error for a job file that does not exist or is a folder, suggesting the intended file; undefined for any other file. */
export async function missingJobFile(file: string): Promise<UsageError | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error.code);
  const isFolder = typeof found === "object" && found.isDirectory();
  if (!isFolder && found !== "ENOENT" && found !== "ENOTDIR") return undefined;
  const meant = isFolder ? await jobIn(file) : await jobLike(file);
  const advice = meant === undefined ? "" : `; did you mean ${meant}?`;
  return new UsageError(`job file ${shown(file)} ${isFolder ? "is a folder" : "does not exist"}${advice}`, []);
}

/** The job file in a folder: one named like the folder or `job`, otherwise the only one. */
async function jobIn(folder: string): Promise<string | undefined> {
  const names = await jobFilesIn(folder);
  const own = names.find((name) => [basename(folder), "job"].includes(parse(name).name));
  const name = own ?? (names.length === 1 ? names[0] : undefined);
  return name === undefined ? undefined : join(folder, name);
}

/** A job file with a similar name, next to the missing file or in `jobs` there; for `nightly.yaml`, otherwise the one in `nightly`. */
async function jobLike(file: string): Promise<string | undefined> {
  const [folder, { name: stem }] = [dirname(file), parse(file)];
  for (const location of [folder, join(folder, "jobs")]) {
    const names = await jobFilesIn(location);
    const nearest = nearestName(
      stem,
      names.map((name) => parse(name).name),
    );
    const meant = names.find((name) => parse(name).name === nearest);
    if (meant !== undefined) return join(location, meant);
  }
  return jobIn(join(folder, stem));
}

async function jobFilesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.filter((name) => /\.(ya?ml|json)$/i.test(name)).sort();
}

/** A file name for a message: quoted if it has unusual characters. */
function shown(file: string): string {
  if (looksLikeKey(file)) return "(a name that is not shown, as it looks like a key)";
  return /^[\w./~-]+$/.test(file) ? file : fileText(file);
}

const locationSchema = v.object(locationEntries);

/**
 * Reads where a job's runs are. The rest of the file may be wrong or use unset variables, because the service is not asked. Throws
 * UsageError with every problem of `name` and `output`.
 */
export async function loadJobLocation(file: string, env: NodeJS.ProcessEnv): Promise<JobLocation> {
  const draft = draftFromFile(file, await readText(file, "the job file"), {}, { env, notifies: false });
  const { unknownKeys, wrongValues } = checkJob(draft.document, draft.written);
  const findings = joinFindings(unknownKeys, draft.unset, wrongValues).filter(
    ({ path }) => path.length === 0 || isWithin(path, ["name"]) || isWithin(path, ["output"]),
  );
  const checked = v.safeParse(locationSchema, draft.document);
  if (findings.length > 0 || !checked.success) throw jobRefusal(draft, findings);
  const { name, output } = checked.output;
  return { name: name ?? "", output: { ...outputLocation(output.dir, output.work_dir), keep: output.keep } };
}
