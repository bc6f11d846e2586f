import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { plainText } from "../../client/plain-text.js";
import { LookAhead } from "../../crawl/look-ahead.js";
import { readWholeList } from "../../crawl/read-whole-list.js";
import { SkipError, StopError } from "../../errors.js";
import type { Job } from "../../job/job.js";
import { namedDatasets } from "../../job/named-datasets.js";
import { DriftCount, sumOfDrift } from "../../rows/drift.js";
import { rowFromRecord } from "../../rows/row-from-record.js";
import type { Discovery, Found, ListedDataset, Listing } from "./discovery.js";
import { flawText, listDatasets, type Wanted } from "./list-datasets.js";

/** The keys of a job that discovery needs. */
export type DiscoveryJob = Pick<Job, "datasets">;

/** One dataset with its documents, and what there is to say of it; without a listing where the job names them. */
type Answered = Pick<Found, "rows" | "failures" | "notes" | "drift" | "pages"> & {
  readonly dataset: ListedDataset;
  readonly listing: Listing | undefined;
};

/**
 * Finds the documents of a job: asks the service wherever the job says `all`, one request a page, and nothing where it
 * names ids. Rejects with StopError when the datasets cannot be listed, and when no document is known because lists failed;
 * a dataset whose list fails beside others has no documents and a sentence in `found.failures`.
 */
export async function discoverDocuments(
  api: Pick<KnowledgeApi, "datasets" | "documents">,
  job: DiscoveryJob,
  lookAhead: LookAhead = new LookAhead(32),
): Promise<Discovery> {
  const all = job.datasets === "all" ? await listDatasets(api, lookAhead) : undefined;
  const wanted = all?.wanted ?? namedDatasets(job).map((dataset): Wanted => ({ dataset, name: null }));
  const answers = await Promise.all(wanted.map((each) => listDocuments(api, each, lookAhead)));
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

/** If lists failed and nothing else is left to read, the run ends without a dump. */
function requireDocuments(answers: readonly Answered[]): void {
  const failures = answers.filter(({ listing }) => listing?.state === "failed").flatMap(({ failures }) => failures);
  const [first] = failures;
  if (first === undefined || answers.some(({ dataset }) => dataset.documents.length > 0)) return;
  throw new StopError(
    failures.length === 1 ? first : `${failures.length} datasets could not be listed; the first: ${first}`,
  );
}

/** The documents of one dataset; nothing is asked where the job names them. */
async function listDocuments(
  api: Pick<KnowledgeApi, "documents">,
  { dataset, name }: Wanted,
  lookAhead: LookAhead,
): Promise<Answered> {
  const { id, documents } = dataset;
  const none = { rows: [], failures: [], notes: [], drift: {}, pages: 0 };
  const told = `dataset ${plainText(id, "", 100)}`;
  if (documents !== "all") return { ...none, dataset: { ...dataset, documents }, listing: undefined };
  const listing = { dataset_id: id, name, documents: 0 };
  try {
    const read = (page: number, limit: number) => api.documents(id, page, limit);
    const list = await readWholeList("documents", read, lookAhead);
    const { rows, problems, pages } = list;
    const known = { dataset_id: id, dataset_name: name };
    const count = new DriftCount();
    const rowOptions = { keepSignatures: true, drift: count.add };
    return {
      dataset: { ...dataset, documents: rows.map((row) => row.id) },
      listing: { ...listing, state: problems.length > 0 ? "unsettled" : "listed", documents: rows.length },
      rows: rows.map((row) => rowFromRecord("document_info", row, known, rowOptions)),
      failures: problems.length > 0 ? [`the list of documents of ${told} ${flawText(list)}`] : [],
      notes: rows.length === 0 ? [`${told} has no documents`] : [],
      drift: count.drift,
      pages: rows.length === 0 ? 0 : pages,
    };
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    const hint = error.status === 403 ? "; or name its documents by id" : "";
    const failures = [`the documents of ${told} cannot be listed: ${error.message}${hint}`];
    return { ...none, failures, dataset: { ...dataset, documents: [] }, listing: { ...listing, state: "failed" } };
  }
}
