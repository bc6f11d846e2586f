import { createHash, randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { type Problem, StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { isAbsence, writeAside } from "../files/files.js";
import { type Job, serviceName } from "../job/job.js";
import { readText } from "../job/read-key.js";
import { jsonText, parseJson } from "../rows/exact-json.js";
import { documentKey, rowSchema } from "../rows/row.js";
import { driftSchema } from "../rows/row-from-record.js";
import { fileText } from "../safe-text.js";
import { check, count, listOf, object, oneOf, text, truth } from "../schema.js";
import { tool } from "../tool.js";
import { countOf } from "../words.js";
import type { Discovery, Listing } from "./discovery.js";

/** The fields of a list of documents. `format` is always 1 so far. */
const documentListEntries = {
  format: v.literal(1, "1"),
  /** The datasets, in the order of the job, then of the service. Skipped datasets come last. */
  datasets: listOf(
    object({
      dataset_id: text,
      /** The name of the dataset; null if the service did not report it. */
      name: v.nullable(text),
      /** `named`: the job names its documents by id. The other states are those of a listing. */
      state: oneOf("named", "listed", "unsettled", "failed", "skipped"),
      documents: listOf(text),
    }),
  ),
  /** Whether all datasets of the service are known; null if the job names its datasets. */
  all_datasets: v.nullable(truth),
  /** A sentence for every list that is incomplete or could not be read. */
  failures: listOf(text),
  /** Warnings for the user, such as those about skipped or empty datasets. */
  notes: listOf(text),
} as const;

/** The file: the list, its job and service, and the answers behind it, so that a run need not ask again. */
const fileSchema = object({
  ...documentListEntries,
  tool: object({ name: text, version: text }),
  job: text,
  base_url: text,
  listed_at: text,
  rows: listOf(rowSchema),
  drift: driftSchema,
  pages: count,
});

type ListFile = v.InferOutput<typeof fileSchema>;

/** A list and the answers that it was made from. */
type ListedAnswers = DocumentList & Pick<ListFile, "rows" | "drift" | "pages">;

/** Maximum bytes of the file of a list. A larger one does not fit in a string. A document takes about 1,000 bytes. */
const largest = 500_000_000;

/** A list of documents that a run uses instead of asking the service. */
interface GivenList {
  readonly discovery: Discovery;
  /** The SHA-256 of the file, which identifies it. */
  readonly sha256: string;
}

/** The job and service of a list, and when it was read. */
interface ListOrigin {
  readonly job: Pick<Job, "name" | "service">;
  readonly listedAt: Date;
}

/**
 * Writes the list of a complete discovery atomically. Only the owner can read the file. Throws StopError and writes nothing when a
 * list of the service failed or kept changing, or when the file would be too long to read or cannot be written.
 */
export async function writeGivenList(path: string, discovery: Discovery, { job, listedAt }: ListOrigin): Promise<void> {
  const { failures = [], rows = [], drift = {}, pages = 0 } = discovery.found ?? {};
  if (failures.length > 0)
    throw new StopError(`no list of documents was written, because it would be incomplete: ${failures.join("; ")}`);
  const file: ListFile = {
    ...documentListFrom(discovery),
    tool,
    job: job.name,
    base_url: serviceName(job.service),
    listed_at: listedAt.toISOString(),
    rows,
    drift,
    pages,
  };
  const content = textOf(file);
  const aside = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  await writeAside(path, content, { aside }).catch((error: unknown) => {
    const reason = isAbsence(error) ? `there is no folder ${dirname(path)}` : problemText(error).replace(aside, path);
    throw new StopError(`the list of documents could not be written to ${path}: ${reason}`);
  });
}

/**
 * The text of the file. Throws StopError if it would be too long to read, or does not fit in a string, which V8 reports with a
 * RangeError.
 */
function textOf(file: ListFile): string {
  try {
    const content = `${jsonText(file)}\n`;
    if (Buffer.byteLength(content) <= largest) return content;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new StopError(
    `no list of documents was written, because it would be longer than ${largest / 1_000_000} MB, the maximum that a run reads, with ${countOf(countDocuments(file), "document")}; let every shard ask the service, without --documents-from, or make several jobs`,
  );
}

/**
 * Reads the list for a job from a file. Throws UsageError, with every reason, if the file has no list or the list of another
 * job.
 */
export async function readGivenList(path: string, job: Job): Promise<GivenList> {
  const content = await readText(path, "the list of documents", largest);
  const { value, problems } = { value: undefined, ...checkJson(fileSchema, content) };
  const reasons = value ? reasonsAgainst(value, job) : problems;
  if (!value || (reasons && reasons.length > 0))
    throw new UsageError(`the list of documents ${fileText(path)} cannot be used:`, reasons ?? []);
  return {
    discovery: discoveryFrom(value, job),
    sha256: createHash("sha256").update(content).digest("hex"),
  };
}

/** Every reason why the list is invalid or belongs to another job. */
function reasonsAgainst(file: ListFile, job: Job): readonly Problem[] {
  const listed = file.datasets.filter(({ state }) => state !== "skipped");
  return [
    ...differs("job", file.job, job.name, "this job is"),
    ...differs("base_url", file.base_url, serviceName(job.service), "this job reads"),
    ...differs("tool", file.tool.version, tool.version, "this is version"),
    ...datasetProblems(file, listed, job),
    ...(isWhole(file, listed)
      ? []
      : [{ path: "rows", message: "they do not match its documents: create the list again" }]),
  ];
}

function differs(path: string, listed: string, own: string, whose: string): readonly Problem[] {
  return listed === own
    ? []
    : [{ path, message: `it is of ${JSON.stringify(listed)}, ${whose} ${JSON.stringify(own)}` }];
}

/** Checks that the list has the datasets of the job, each with the documents that the job names. */
function datasetProblems(file: ListFile, listed: ListFile["datasets"], { datasets }: Job): readonly Problem[] {
  const path = "datasets";
  if (datasets === "all")
    return file.all_datasets === null ? [{ path, message: "it has some datasets, but this job reads all" }] : [];
  if (file.all_datasets !== null) return [{ path, message: "it has all datasets, but this job names some" }];
  const [theirs, own] = [listed.map(({ dataset_id }) => dataset_id), datasets.map(({ id }) => id)];
  if (theirs.join() !== own.join())
    return [{ path, message: `it is of ${theirs.join(", ") || "none"}, this job reads ${own.join(", ")}` }];
  return datasets.flatMap(({ id, documents }, at) => {
    const { state, documents: named } = listed[at] ?? { documents: [] };
    const isSame = documents === "all" ? state !== "named" : state === "named" && named.join() === documents.join();
    return isSame ? [] : [{ path, message: `of dataset ${id}, this job reads other documents` }];
  });
}

/** Whether the rows belong to the listed documents: one row each, in the same order. */
function isWhole({ rows }: ListFile, listed: ListFile["datasets"]): boolean {
  const keys = listed
    .filter(({ state }) => state !== "named")
    .flatMap(({ dataset_id, documents }) => documents.map((document_id) => documentKey({ dataset_id, document_id })));
  return new Set(keys).size === keys.length && keys.join() === rows.map(documentKey).join();
}

/** The discovery that a list describes: the job's datasets with these documents. */
export function discoveryFrom(file: ListedAnswers, job: Pick<Job, "datasets">): Discovery {
  const listed = file.datasets.filter(({ state }) => state !== "skipped");
  const listings = file.datasets.flatMap(({ dataset_id, name, state, documents }): readonly Listing[] =>
    state === "named" ? [] : [{ dataset_id, name, state, documents: documents.length }],
  );
  const none = { batches: [], status: [], keyword: undefined };
  const { rows, failures, notes, drift, pages, all_datasets: all } = file;
  return {
    datasets: listed.map(({ dataset_id: id, documents }, at) => {
      const known = job.datasets === "all" ? undefined : job.datasets[at];
      return { ...none, ...known, id, documents };
    }),
    found:
      all === null && listings.length === 0
        ? undefined
        : { rows, listings, allDatasets: all ?? undefined, failures, notes, drift, pages },
  };
}

const documentListSchema = object(documentListEntries);

/** All documents of a job by id, in order, over all shards. A shard stores it as `list.json` in its run folder. */
export type DocumentList = v.InferOutput<typeof documentListSchema>;

/** Makes the list from a discovery. Pass the discovery of all shards, not one shard's part. */
export function documentListFrom({ datasets, found }: Discovery): DocumentList {
  const listings = new Map(found?.listings.map((listing) => [listing.dataset_id, listing]));
  const skipped = found?.listings.filter(({ state }) => state === "skipped") ?? [];
  return {
    format: 1,
    datasets: [
      ...datasets.map(({ id, documents }) => {
        const { name = null, state = "named" as const } = listings.get(id) ?? {};
        return { dataset_id: id, name, state, documents };
      }),
      ...skipped.map(({ dataset_id, name, state }) => ({ dataset_id, name, state, documents: [] })),
    ],
    all_datasets: found?.allDatasets ?? null,
    failures: found?.failures ?? [],
    notes: found?.notes ?? [],
  };
}

/** The canonical text of a list, one line. Equal lists have equal texts, and therefore equal hashes. */
export function documentListText({ datasets, all_datasets, failures, notes }: DocumentList): string {
  const members = datasets.map(({ dataset_id, name, state, documents }) => ({ dataset_id, name, state, documents }));
  return `${jsonText({ format: 1, datasets: members, all_datasets, failures, notes })}\n`;
}

/** Parses a list, or returns every problem with its path. */
export function documentListFromText(listText: string): ReturnType<typeof check<typeof documentListSchema>> {
  return checkJson(documentListSchema, listText);
}

/** Checks a JSON text against a schema. Numbers stay exact. */
function checkJson<const Schema extends v.GenericSchema>(
  schema: Schema,
  json: string,
): ReturnType<typeof check<Schema>> {
  try {
    return check(schema, parseJson(json));
  } catch (error) {
    return {
      problems: [{ path: "", message: `it is not valid JSON: ${error instanceof Error ? error.message : error}` }],
    };
  }
}

export function countDocuments({ datasets }: Pick<DocumentList, "datasets">): number {
  return datasets.reduce((sum, { documents }) => sum + documents.length, 0);
}
