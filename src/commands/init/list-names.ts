import { typedKey } from "../../client/refused-answer.js";
import { discoverDocuments, listDatasets } from "../../crawl/discover-documents.js";
import { Prefetch } from "../../crawl/prefetch.js";
import { StopError } from "../../errors.js";
import type { Job } from "../../job/job.js";
import { loadJob } from "../../job/load-job.js";
import { openService, withDefaults } from "../../job/open-service.js";
import { plainText } from "../../safe-text.js";

/** A service and its key. */
export interface Access {
  readonly baseUrl: string;
  readonly allowHttp: boolean;
  readonly key: string;
  /** Whether the key was typed at the prompt rather than read from the variable. */
  readonly isTyped: boolean;
}

/** The context for requests to the service. */
export interface ListContext {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The variable with the key, unless a job names another one. */
export const keyVariable = "KNOWLEDGE_API_KEY";

/** Pages to prefetch. */
const pagesAhead = 8;

/**
 * Lists the datasets that a key can see, by name. Throws UsageError for an invalid base URL, and StopError if the service cannot
 * be reached, is not the Knowledge API, or refuses the key.
 */
export async function listDatasetNames(access: Access, context: ListContext): Promise<readonly Named[]> {
  const job = await loadJob({ none: true }, { ...addressFlags(access), dataset: "all" }, context.env);
  await using service = await openAt(access, job, context);
  const { wanted } = await listDatasets(service.client, new Prefetch(pagesAhead));
  return wanted.map(({ dataset, name }) => ({ id: dataset.id, name }));
}

/** Lists the documents of a dataset by name. Throws StopError if the service does not list them. */
export async function listDocumentNames(access: Access, id: string, context: ListContext): Promise<readonly Named[]> {
  const job = await loadJob({ none: true }, { ...addressFlags(access), dataset: id, document: ["all"] }, context.env);
  await using service = await openAt(access, job, context);
  const { found } = await discoverDocuments(service.client, job, new Prefetch(pagesAhead));
  const [failure] = found?.failures ?? [];
  if (failure !== undefined) throw new StopError(failure);
  return (found?.rows ?? []).map((row) => ({ id: String(row.document_id), name: nameOf(row.name) }));
}

function addressFlags({ baseUrl, allowHttp }: Access) {
  return { baseUrl, ...(allowHttp ? { allowHttp } : {}) };
}

function openAt({ key, isTyped }: Access, job: Job, { env, signal }: ListContext) {
  const options = withDefaults({ env: { ...env, [keyVariable]: key }, signal });
  return openService(job, options, isTyped ? { keySource: typedKey } : {});
}

function nameOf(value: unknown): string | null {
  return typeof value === "string" ? plainText(value, "", 200) : null;
}

/** A dataset or document that a job names by id, with its name for a comment. */
export interface Named {
  readonly id: string;
  /** null if the service did not report it. */
  readonly name: string | null;
}
