import type { Listed } from "../../client/check-list.js";
import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { LookAhead } from "../../crawl/look-ahead.js";
import { readDatasets } from "../../crawl/read-datasets.js";
import { flawText, readWholeList } from "../../crawl/read-whole-list.js";
import { SkipError, StopError } from "../../errors.js";
import { cutText, escapeControls } from "../../safe-text.js";

/** The questions that a plan asks of the target. */
export type TargetApi = Pick<KnowledgeApi, "dataset" | "datasets" | "documents">;

/** Pages that are asked for ahead. */
const pagesAhead = 8;

/** A dataset of the target; undefined where it has none with this id. StopError when the service does not tell. */
export async function askDataset(api: TargetApi, id: string): Promise<Listed | undefined> {
  try {
    return await api.dataset(id);
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    if (error.status === 404 && error.code !== undefined) return undefined; // without a code, the service does not know the URL
    throw new StopError(`the target does not tell of its dataset ${shownId(id)}: ${error.message}`, { cause: error });
  }
}

/** The documents of a dataset of the target. */
export interface DocumentIds {
  readonly ids: ReadonlySet<string>;
  /** Why some may be missing, as a sentence; null where the list is proved whole. */
  readonly flaw: string | null;
}

/** Lists the documents of a dataset of the target. StopError when the service does not list them. */
export async function askDocuments(api: TargetApi, id: string): Promise<DocumentIds> {
  const read = (page: number, limit: number) => api.documents(id, page, limit);
  const list = await readWholeList("documents", read, new LookAhead(pagesAhead)).catch((error: unknown) => {
    if (!(error instanceof SkipError)) throw error;
    const what = `the documents of the dataset ${shownId(id)} of the target cannot be listed`;
    throw new StopError(`${what}: ${error.message}`, { cause: error });
  });
  const flaw = `the list of documents of the dataset ${shownId(id)} of the target ${flawText(list)}`;
  return { ids: new Set(list.rows.map((row) => row.id)), flaw: list.problems.length > 0 ? flaw : null };
}

/** The names of the datasets of the target. */
export interface TakenNames {
  readonly names: ReadonlySet<string>;
  /** Why some may be missing, as a sentence; null where the list is proved whole. */
  readonly flaw: string | null;
}

/** Lists the names of the datasets of the target. StopError when the service does not list them. */
export async function askNames(api: TargetApi): Promise<TakenNames> {
  const list = await readDatasets(api, new LookAhead(pagesAhead)).catch((error: unknown) => {
    if (!(error instanceof SkipError) && !(error instanceof StopError && error.status === 401)) throw error;
    const hint = "so no free name can be chosen; create a dataset, and name it with --dataset <id>";
    throw new StopError(`the datasets of the target cannot be listed, ${hint}: ${error.message}`, { cause: error });
  });
  const limited =
    "the target does not take include_all: a name may be taken by a dataset of which the key is no member";
  const flaw = list.problems.length > 0 ? `the list of datasets of the target ${flawText(list)}` : null;
  const names = list.rows.map(({ name }) => name).filter((name) => typeof name === "string");
  return { names: new Set(names), flaw: flaw ?? (list.limited ? limited : null) };
}

/** An id as messages show it. */
export function shownId(id: string): string {
  return cutText(escapeControls(id), 80);
}
