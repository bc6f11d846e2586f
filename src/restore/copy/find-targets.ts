import type { Listed } from "../../client/check-answer.js";
import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { textIn } from "../../compare/document-rows.js";
import { Prefetch } from "../../crawl/prefetch.js";
import { flawText, readDatasets, readWholeList } from "../../crawl/read-whole-list.js";
import { SkipError, StopError, UsageError } from "../../errors.js";
import { type JournalFacts, noFacts } from "../journal-facts.js";
import { shownId } from "../target.js";
import type { DatasetTarget } from "./copy-plan.js";

/** A dataset for the documents of one form, with its preferred name. */
interface WishedDataset {
  readonly key: string;
  /** Id in the dump. */
  readonly dataset_id: string;
  readonly name: string;
  /** Null if it has no documents. */
  readonly form: string | null;
}

interface TargetOptions {
  /** `new`: new datasets, even if the journal has some. An id: that dataset. Undefined: those in the journal, otherwise new ones. */
  readonly dataset: string | undefined;
  readonly facts: JournalFacts;
}

/** A dataset of the target for documents of the dump. */
export interface FoundTarget {
  readonly target: DatasetTarget;
  /** Its settings and documents; null if it is new. */
  readonly there: { readonly settings: Listed; readonly documents: KnownIds } | null;
  /** This restore did not make it, so it keeps its own settings. */
  readonly existed: boolean;
}

interface FoundTargets {
  /** By key. */
  readonly targets: ReadonlyMap<string, FoundTarget>;
  /** Keys of datasets that are gone. */
  readonly gone: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Finds the datasets of the target for those of a dump, and free names for new ones. Throws UsageError if the dataset that the
 * owner named cannot be used.
 */
export async function findTargets(
  api: TargetApi,
  wished: readonly WishedDataset[],
  { dataset, facts }: TargetOptions,
): Promise<FoundTargets> {
  const known = (dataset === "new" ? noFacts : facts).datasets;
  const targets = new Map<string, FoundTarget>();
  const gone: string[] = [];
  for (const { key } of wished) {
    const { id, existed = false } = known.get(key) ?? {};
    const found = id === undefined ? undefined : await findDataset(api, id, existed);
    if (found) targets.set(key, found);
    else if (id !== undefined) gone.push(key);
  }
  const [named] = wished;
  if (dataset !== undefined && dataset !== "new" && named) {
    refuseSeveral(wished);
    targets.set(named.key, await findNamed(api, dataset, { form: named.form, facts, known: targets.get(named.key) }));
  }
  const fresh = wished.filter(({ key }) => !targets.has(key));
  const flaw = fresh.length > 0 ? await nameFresh(api, fresh, targets) : null;
  const flaws = [...[...targets.values()].map(({ there }) => there?.documents.flaw ?? null), flaw];
  return { targets, gone, warnings: flaws.filter((each) => each !== null) };
}

async function findDataset(api: TargetApi, id: string, existed: boolean): Promise<FoundTarget | undefined> {
  const settings = await askDataset(api, id);
  if (!settings) return undefined;
  const documents = await askDocuments(api, id);
  return { target: { kind: "there", id, name: textIn(settings.name) ?? id }, there: { settings, documents }, existed };
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

interface Naming {
  readonly form: WishedDataset["form"];
  readonly facts: JournalFacts;
  /** The dataset in the journal, if it still exists. */
  readonly known: FoundTarget | undefined;
}

/** The dataset that the owner named. It must be empty, or have only documents of this form that this restore made. */
async function findNamed(api: TargetApi, id: string, { form, facts, known }: Naming): Promise<FoundTarget> {
  if (known?.target.kind === "there") {
    if (known.target.id === id) return known;
    throw refusal(
      `this restore already uses ${shownId(known.target.id)}: leave --dataset out, or make another copy with --dataset new`,
    );
  }
  const found = await findDataset(api, id, true);
  if (!found?.there) throw refusal(`the target has no dataset ${shownId(id)}`);
  const own = new Set([...facts.documents.values()].map(({ target_id }) => target_id));
  const foreign = [...found.there.documents.ids].find((document) => !own.has(document));
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

/** Gives every new dataset a unique name, both in the plan and at the target. */
async function nameFresh(
  api: TargetApi,
  fresh: readonly WishedDataset[],
  targets: Map<string, FoundTarget>,
): Promise<string | null> {
  const { ids: names, flaw } = await askNames(api);
  const taken = new Set(names);
  for (const { key, name: wish } of fresh) {
    const name = freeName(wish, taken);
    taken.add(name);
    targets.set(key, { target: { kind: "new", name }, there: null, existed: false });
  }
  return flaw;
}

/** Maximum characters of a dataset's name, as the service counts them: POST /datasets refuses a longer one. */
const longest = 40;

/**
 * A free name for a new dataset: the wished name, shortened if it is too long, or the same followed by a number, starting with 2. It is
 * cut between code points: the service counts these, and half of one would be another text.
 */
export function freeName(wished: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const ending = number === 1 ? "" : ` (${number})`;
    const name = [...wished].slice(0, longest - ending.length).join("") + ending;
    if (!taken.has(name)) return name;
  }
}

/** The requests that a plan sends to the target. */
export type TargetApi = Pick<KnowledgeApi, "dataset" | "datasets" | "documents" | "hasFileUpload">;

/** How many pages to prefetch. */
const pagesAhead = 8;

/** A dataset of the target; undefined if the target has none with this id. Throws StopError if the service does not answer that. */
async function askDataset(api: TargetApi, id: string): Promise<Listed | undefined> {
  try {
    return await api.dataset(id);
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    if (error.status === 404 && error.code !== undefined) return undefined; // without a code, the service does not know the URL
    throw new StopError(`the target does not return its dataset ${shownId(id)}: ${error.message}`, { cause: error });
  }
}

/** A list of the target. */
interface KnownIds {
  readonly ids: ReadonlySet<string>;
  /** Why some may be missing, as a sentence; null if the list is proved complete. */
  readonly flaw: string | null;
}

/** Lists the documents of a dataset of the target. Throws StopError if the service does not list them. */
async function askDocuments(api: TargetApi, id: string): Promise<KnownIds> {
  const read = (page: number, limit: number) => api.documents(id, page, limit);
  const list = await readWholeList("documents", read, new Prefetch(pagesAhead)).catch((error: unknown) => {
    if (!(error instanceof SkipError)) throw error;
    const what = `the documents of the dataset ${shownId(id)} of the target cannot be listed`;
    throw new StopError(`${what}: ${error.message}`, { cause: error });
  });
  const flaw = `the list of documents of the dataset ${shownId(id)} of the target ${flawText(list)}`;
  return { ids: new Set(list.rows.map((row) => row.id)), flaw: list.problems.length > 0 ? flaw : null };
}

/** Lists the names of the target's datasets. Throws StopError if the service does not list them. */
async function askNames(api: TargetApi): Promise<KnownIds> {
  const list = await readDatasets(api, new Prefetch(pagesAhead)).catch((error: unknown) => {
    if (!(error instanceof SkipError) && !(error instanceof StopError && error.status === 401)) throw error;
    const hint = "so no free name can be chosen; create a dataset, and name it with --dataset <id>";
    throw new StopError(`the datasets of the target cannot be listed, ${hint}: ${error.message}`, { cause: error });
  });
  const limited =
    "the target does not support include_all: a dataset that the key is not a member of may have the name already";
  const flaw = list.problems.length > 0 ? `the list of datasets of the target ${flawText(list)}` : null;
  const names = list.rows.map(({ name }) => name).filter((name) => typeof name === "string");
  return { ids: new Set(names), flaw: flaw ?? (list.limited ? limited : null) };
}
