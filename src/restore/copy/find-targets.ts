import type { Listed } from "../../client/check-answer.js";
import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { textIn } from "../../compare/document-rows.js";
import { Prefetch } from "../../crawl/prefetch.js";
import { flawText, readDatasets, readWholeList } from "../../crawl/read-whole-list.js";
import { SkipError, StopError, UsageError } from "../../errors.js";
import type { JournalFacts } from "../../journal/journal-state.js";
import { shownId } from "../target.js";
import { ifThere } from "../target-rows.js";
import { type DatasetTarget, longestName, type NamedDataset, wishedName } from "./copy-plan.js";
import type { CopyOptions } from "./copy-result.js";

/** A dataset for the documents of one form. */
export interface WishedDataset extends NamedDataset {
  /** Null if it has no documents. */
  readonly form: string | null;
}

/** A dataset of the target for documents of the dump. */
export interface FoundTarget {
  readonly target: DatasetTarget;
  /** Null if it is new. */
  readonly there: {
    readonly settings: Listed;
    readonly documents: ReadonlySet<string>;
    /** Why some documents may be missing, as a sentence; null if the list is proved complete. */
    readonly flaw: string | null;
    /** Whether it existed before this restore. If so, it keeps its own settings. */
    readonly existed: boolean;
  } | null;
}

/**
 * Finds the datasets of the target for those of a dump, by key, and free names for new ones. Throws UsageError if the dataset that the
 * owner named cannot be used; StopError if the service does not show what it has.
 */
export async function findTargets(
  api: TargetApi,
  wished: readonly WishedDataset[],
  { dataset, facts }: Pick<CopyOptions, "dataset"> & { readonly facts: JournalFacts },
): Promise<{ readonly targets: ReadonlyMap<string, FoundTarget>; readonly warnings: readonly string[] }> {
  const targets = new Map<string, FoundTarget>();
  for (const { key } of wished) {
    const { id, existed = false } = facts.datasets.get(key) ?? {};
    const found = id === undefined ? undefined : await findDataset(api, id, existed);
    if (found) targets.set(key, found);
  }
  const [named] = wished;
  if (dataset !== undefined && dataset !== "new" && named) {
    refuseSeveral(wished);
    const known = targets.get(named.key)?.target;
    if (known?.kind !== "there") targets.set(named.key, await findNamed(api, dataset, named.form, facts));
    else if (known.id !== dataset)
      throw refusal(
        `this restore already uses ${shownId(known.id)}: leave --dataset out, or make another copy with --dataset new`,
      );
  }
  const fresh = wished.filter(({ key }) => !targets.has(key));
  const flaw = fresh.length > 0 ? await nameFresh(api, fresh, targets) : null;
  const flaws = [...[...targets.values()].map(({ there }) => there?.flaw ?? null), flaw];
  return { targets, warnings: flaws.filter((each) => each !== null) };
}

/** A dataset of the target; undefined if the target has none with this id. */
async function findDataset(api: TargetApi, id: string, existed: boolean): Promise<FoundTarget | undefined> {
  const which = `the dataset ${shownId(id)} of the target`;
  const unread = stopWith(`the target does not return its dataset ${shownId(id)}`);
  const settings = await ifThere(() => api.dataset(id)).catch(unread);
  if (!settings) return undefined;
  const read = (page: number, limit: number) => api.documents(id, page, limit);
  const unlisted = stopWith(`the documents of ${which} cannot be listed`);
  const list = await readWholeList("documents", read, new Prefetch(pagesAhead)).catch(unlisted);
  const flaw = `the list of documents of ${which} ${flawText(list)}`;
  const documents = new Set(list.rows.map((row) => row.id));
  return {
    target: { kind: "there", id, name: textIn(settings.name) ?? id },
    there: { settings, documents, flaw: list.problems.length > 0 ? flaw : null, existed },
  };
}

/**
 * A handler for `catch`: throws StopError for a list or record that the service does not return, or that this key may not read.
 * `hint`: added at the end.
 */
function stopWith(what: string, hint = ""): (error: unknown) => never {
  return (error) => {
    const isRefused = error instanceof StopError && error.status === 401; // its message begins with the key
    if (!isRefused && !(error instanceof SkipError)) throw error;
    throw new StopError(`${isRefused ? "" : `${what}: `}${error.message}${hint}`, { cause: error });
  };
}

/** The owner can name one dataset, which accepts documents of one dataset of the dump and of one form. */
function refuseSeveral(wished: readonly WishedDataset[]): void {
  const datasets = new Set(wished.map(({ dataset_id }) => dataset_id)).size;
  if (datasets > 1)
    throw refusal(`the documents are of ${datasets} datasets of the run: name those of one with --document`);
  if (wished.length === 1) return;
  const forms = shownId(wished.map(({ form }) => form).join(", "));
  throw refusal(
    `the documents have ${wished.length} forms (${forms}), and a dataset accepts one: choose those of one form with --document`,
  );
}

/** The dataset that the owner named. It must be empty, or have only documents of this form that this restore made. */
async function findNamed(
  api: TargetApi,
  id: string,
  form: WishedDataset["form"],
  facts: JournalFacts,
): Promise<FoundTarget> {
  const found = await findDataset(api, id, true);
  if (!found?.there) throw refusal(`the target has no dataset ${shownId(id)}`);
  const own = new Set([...facts.documents.values()].map(({ target_id }) => target_id));
  const foreign = [...found.there.documents].find((document) => !own.has(document));
  const standing = textIn(found.there.settings.doc_form);
  const other = "name an empty one, or make one with --dataset new";
  if (foreign !== undefined)
    throw refusal(
      `the dataset ${shownId(id)} has documents that this restore did not make, such as ${shownId(foreign)}: ${other}`,
    );
  if (standing && form !== null && standing !== form)
    throw refusal(
      `the dataset ${shownId(id)} accepts documents of the form ${shownId(standing)}, and these have the form ${shownId(form)}: ${other}`,
    );
  return found;
}

function refusal(message: string): UsageError {
  return new UsageError("The documents cannot be restored there:", [{ path: "--dataset", message }]);
}

/** Names the new datasets uniquely in the plan and at the target. Returns a sentence if a name may be taken nevertheless. */
async function nameFresh(
  api: TargetApi,
  fresh: readonly WishedDataset[],
  targets: Map<string, FoundTarget>,
): Promise<string | null> {
  const hint = "; or create a dataset, and name it with --dataset <id>";
  const unlisted = stopWith("no free name can be chosen, as the datasets cannot be listed", hint);
  const list = await readDatasets(api, new Prefetch(pagesAhead)).catch(unlisted);
  const taken = new Set(list.rows.map(({ name }) => textIn(name) ?? ""));
  for (const wish of fresh) {
    const name = freeName(wishedName(wish), taken);
    taken.add(name);
    targets.set(wish.key, { target: { kind: "new", name }, there: null });
  }
  if (list.problems.length > 0) return `the list of datasets of the target ${flawText(list)}`;
  return list.limited
    ? "the target does not support include_all: a dataset that the key is not a member of may have the name already"
    : null;
}

/**
 * A free name for a new dataset: the wished name, shortened if it is too long, or the same followed by a number, starting with 2. It is
 * cut between code points: the service counts these, and half of one would be another text.
 */
export function freeName(wished: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const ending = number === 1 ? "" : ` (${number})`;
    const name = [...wished].slice(0, longestName - ending.length).join("") + ending;
    if (!taken.has(name)) return name;
  }
}

/** The requests that a plan sends to the target. */
export type TargetApi = Pick<KnowledgeApi, "dataset" | "datasets" | "documents" | "hasFileUpload">;

/** How many pages to prefetch. */
const pagesAhead = 8;
