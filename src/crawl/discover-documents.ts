import type { Listed } from "../client/check-answer.js";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError, StopError } from "../errors.js";
import { type DatasetJob, type Job, namedDatasets } from "../job/job.js";
import type { Row } from "../rows/row.js";
import { DriftCount, rowFromRecord, sumOfDrift } from "../rows/row-from-record.js";
import { plainText } from "../safe-text.js";
import { countOf, nameAndId } from "../words.js";
import type { Discovery, Found, ListedDataset, Listing } from "./discovery.js";
import { Prefetch } from "./prefetch.js";
import { flawText, readDatasets, readWholeList } from "./read-whole-list.js";

/** The part of a job that discovery needs. */
export type DiscoveryJob = Pick<Job, "datasets">;

interface DiscoveryOptions {
  /** Whether to keep a row of `document_info`; default: all rows. The ids of all documents are kept in any case. */
  readonly keeps?: (row: Row) => boolean;
  /** Maximum documents of a job; default: `mostDocuments`. */
  readonly most?: number;
}

/**
 * A job with more documents is refused, because nothing could read its manifest: it needs about 860 bytes per document, and is
 * read as one string, which cannot exceed 536 MB.
 */
const mostDocuments = 500_000;

/** A dataset with its documents and failures. `listing` is undefined if the job names the documents. */
type Answered = Pick<Found, "rows" | "failures" | "notes" | "drift" | "pages"> & {
  readonly dataset: ListedDataset;
  readonly listing: Listing | undefined;
};

/**
 * Finds the documents of a job. For `all`, it sends one request per page and one for each dataset's name. For ids in the job, it
 * sends none. Throws StopError when the datasets cannot be listed, when lists failed and no document is known, or when there are
 * more documents than a run can hold. If only some lists fail, their datasets get no documents, and `found.failures` has the
 * reasons.
 */
export async function discoverDocuments(
  api: Pick<KnowledgeApi, "datasets" | "documents" | "dataset">,
  job: DiscoveryJob,
  prefetch: Prefetch = new Prefetch(32),
  { keeps = () => true, most = mostDocuments }: DiscoveryOptions = {},
): Promise<Discovery> {
  const all = job.datasets === "all" ? await listDatasets(api, prefetch) : undefined;
  const wanted = all?.wanted ?? namedDatasets(job).map((dataset): Wanted => ({ dataset, name: null }));
  let documents = 0;
  const answers = await Promise.all(
    wanted.map(async (each) => {
      const { rows, ...answered } = await listDocuments(api, each, prefetch);
      documents += answered.dataset.documents.length;
      if (documents > most) throw tooMany(most);
      return { ...answered, rows: rows.filter(keeps) };
    }),
  );
  requireDocuments(answers);
  const datasets = answers.map(({ dataset }) => dataset);
  const listings = [...answers.flatMap(({ listing }) => listing ?? []), ...(all?.skipped ?? [])];
  if (!all && listings.length === 0) return { datasets, found: undefined };
  const found: Found = {
    rows: answers.flatMap(({ rows }) => rows),
    listings,
    allDatasets: all?.whole,
    failures: [...(all?.failures ?? []), ...answers.flatMap(({ failures }) => failures)],
    notes: [...(all?.notes ?? []), ...answers.flatMap(({ notes }) => notes)],
    drift: sumOfDrift(answers.map(({ drift }) => drift)),
    pages: answers.reduce((sum, { pages }) => sum + pages, 0),
  };
  return { datasets, found };
}

function tooMany(most: number): StopError {
  return new StopError(
    `the job has more than ${countOf(most, "document")}, the maximum for a run, because its manifest lists each one; make several jobs, each with some of the datasets`,
  );
}

/** Ends the run without a dump if lists failed and nothing else is left to read. */
function requireDocuments(answers: readonly Answered[]): void {
  const failures = answers.filter(({ listing }) => listing?.state === "failed").flatMap(({ failures }) => failures);
  const [first] = failures;
  if (first === undefined || answers.some(({ dataset }) => dataset.documents.length > 0)) return;
  throw new StopError(
    failures.length === 1 ? first : `${failures.length} datasets could not be listed; the first: ${first}`,
  );
}

/** Lists the documents of one dataset. Sends no request if the job names them. */
async function listDocuments(
  api: Pick<KnowledgeApi, "documents" | "dataset">,
  { dataset, name: known }: Wanted,
  prefetch: Prefetch,
): Promise<Answered> {
  const { id, documents } = dataset;
  const none = { rows: [], failures: [], notes: [], drift: {}, pages: 0 };
  if (documents !== "all") return { ...none, dataset: { ...dataset, documents }, listing: undefined };
  const datasetText = (name: string | null) => `dataset ${nameAndId(name, plainText(id, "", 100))}`;
  try {
    const read = (page: number, limit: number) => api.documents(id, page, limit);
    const list = await readWholeList("documents", read, prefetch);
    const { rows, problems, pages } = list;
    const name = known ?? (await askForName(api, id));
    const state = problems.length > 0 ? "unsettled" : "listed";
    const count = new DriftCount();
    const rowOptions = { keepSignatures: true, drift: count.add };
    return {
      dataset: { ...dataset, documents: rows.map((row) => row.id) },
      listing: { dataset_id: id, name, state, documents: rows.length },
      rows: rows.map((row) => rowFromRecord("document_info", row, { dataset_id: id, dataset_name: name }, rowOptions)),
      failures: problems.length > 0 ? [`the list of documents of ${datasetText(name)} ${flawText(list)}`] : [],
      notes: rows.length === 0 ? [`${datasetText(name)} has no documents`] : [],
      drift: count.drift,
      pages: rows.length === 0 ? 0 : pages,
    };
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    const hint = error.status === 403 ? "; or name its documents by id" : "";
    const failures = [`the documents of ${datasetText(known)} cannot be listed: ${error.message}${hint}`];
    const listing: Listing = { dataset_id: id, name: known, state: "failed", documents: 0 };
    return { ...none, failures, dataset: { ...dataset, documents: [] }, listing };
  }
}

/** Requests the name of a dataset, without retries, because the name is optional. Null if it cannot be read. */
async function askForName(api: Pick<KnowledgeApi, "dataset">, id: string): Promise<string | null> {
  try {
    return nameOf(await api.dataset(id, 0));
  } catch (error) {
    if (error instanceof SkipError) return null;
    throw error;
  }
}

/** A dataset whose documents must be found. */
interface Wanted {
  readonly dataset: DatasetJob;
  /** The name of the dataset; null if unknown. */
  readonly name: string | null;
}

/** All datasets of the service: those to read, and those to skip. */
interface AllDatasets {
  readonly wanted: readonly Wanted[];
  readonly skipped: readonly Listing[];
  readonly whole: boolean;
  readonly failures: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Lists all datasets, and skips those whose chunks the service does not return. Throws StopError when the datasets cannot be
 * listed, or none is left.
 */
export async function listDatasets(api: Pick<KnowledgeApi, "datasets">, prefetch: Prefetch): Promise<AllDatasets> {
  const list = await readDatasets(api, prefetch).catch((error: unknown) => {
    throw refusalOf(error) ?? error;
  });
  const { rows, problems, limited } = list;
  if (rows.length === 0) throw new StopError("the service lists no datasets; is it the right key?");
  const judged = rows.map((row) => ({ row, reason: reasonToSkip(row) }));
  const skipped = judged.flatMap(({ row, reason }) => (reason === undefined ? [] : [{ row, reason }]));
  const notes = skipped.map(
    ({ row, reason }) => `dataset ${nameAndId(nameOf(row), plainText(row.id, "", 100))} is skipped: ${reason}`,
  );
  if (skipped.length === rows.length) throw new StopError(`no dataset can be read; the first: ${notes[0]}`);
  if (limited)
    notes.push("the service does not support include_all: datasets that the key is not a member of may be missing");
  return {
    wanted: judged.filter(({ reason }) => reason === undefined).map(({ row }) => wantedFrom(row)),
    skipped: skipped.map(({ row }) => ({ dataset_id: row.id, name: nameOf(row), state: "skipped", documents: 0 })),
    whole: problems.length === 0,
    failures: problems.length > 0 ? [`the list of datasets ${flawText(list)}`] : [],
    notes,
  };
}

/**
 * The error if the datasets cannot be listed; undefined for other errors. A 401 may have another cause than a wrong key: some
 * services answer it when a key bound to one dataset lists the datasets.
 */
function refusalOf(error: unknown): StopError | undefined {
  const unauthorized = error instanceof StopError && error.status === 401;
  if (!unauthorized && !(error instanceof SkipError)) return undefined;
  const hint = unauthorized
    ? "; if the key is right, it may not list the datasets: name them by id in the job file"
    : "";
  return new StopError(`the datasets cannot be listed: ${error.message}${hint}`, {
    cause: error,
  });
}

function reasonToSkip({ provider, enable_api: enabled }: Listed): string | undefined {
  if (provider === "external") return "its chunks are kept outside of the service (provider external)";
  return enabled === false ? "API access is off for it (enable_api false)" : undefined;
}

function wantedFrom(row: Listed): Wanted {
  const dataset: DatasetJob = { id: row.id, documents: "all", batches: [], status: [], keyword: undefined };
  return { dataset, name: nameOf(row) };
}

const nameOf = ({ name }: Listed): string | null => (typeof name === "string" ? name : null);
