import type { Listed } from "../../client/check-list.js";
import { type Problem, UsageError } from "../../errors.js";
import { textIn } from "../../restore/json-fields.js";
import { type JournalFacts, noFacts } from "../journal-facts.js";
import type { DatasetTarget } from "../move-plan.js";
import { askDataset, askDocuments, askNames, type DocumentIds, shownId, type TargetApi } from "./ask-target.js";
import { freeName } from "./free-name.js";

/** A dataset that is to take documents of one form, and the name that it should have. */
export interface WishedDataset {
  readonly key: string;
  /** Id in the dump. */
  readonly dataset_id: string;
  readonly name: string;
  /** Null where no document comes. */
  readonly form: string | null;
}

export interface TargetOptions {
  /** `new`: new datasets, whatever the journal knows. An id: that dataset. Undefined: those of the journal, else new ones. */
  readonly dataset: string | undefined;
  readonly facts: JournalFacts;
}

/** A dataset of the target that takes documents of the dump. */
export interface FoundTarget {
  readonly target: DatasetTarget;
  /** Its settings and its documents; null where it is new. */
  readonly there: { readonly settings: Listed; readonly documents: DocumentIds } | null;
  /** This restore did not make it: it keeps its own settings. */
  readonly adopted: boolean;
}

export interface FoundTargets {
  /** By key. */
  readonly targets: ReadonlyMap<string, FoundTarget>;
  /** Keys of datasets that are gone. */
  readonly gone: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Asks the target for the datasets that take those of a dump, and for free names of new ones. UsageError when the dataset that the
 * owner named cannot take them.
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
    const { id, adopted = false } = known.get(key) ?? {};
    const found = id === undefined ? undefined : await findDataset(api, id, adopted);
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

async function findDataset(api: TargetApi, id: string, adopted: boolean): Promise<FoundTarget | undefined> {
  const settings = await askDataset(api, id);
  if (!settings) return undefined;
  const documents = await askDocuments(api, id);
  return { target: { kind: "there", id, name: textIn(settings.name) ?? id }, there: { settings, documents }, adopted };
}

/** The owner names one dataset, which takes the documents of one dataset of the dump, and of one form. */
function refuseSeveral(wished: readonly WishedDataset[]): void {
  const datasets = new Set(wished.map(({ dataset_id }) => dataset_id)).size;
  if (datasets > 1)
    throw refusal(`the documents are of ${datasets} datasets of the run: name those of one with --document`);
  if (wished.length === 1) return;
  const forms = wished.map(({ form }) => form).join(", ");
  const message = `the documents have ${wished.length} forms (${shownId(forms)}), and a dataset takes one: choose those of one form with --document`;
  throw refusal(message);
}

interface Naming {
  readonly form: WishedDataset["form"];
  readonly facts: JournalFacts;
  /** The dataset that the journal knows, which is there. */
  readonly known: FoundTarget | undefined;
}

/** The dataset that the owner named: it has to be empty, or to have nothing but documents of this form that this restore made. */
async function findNamed(api: TargetApi, id: string, { form, facts, known }: Naming): Promise<FoundTarget> {
  if (known?.target.kind === "there" && known.target.id !== id) {
    const message = `this restore takes ${shownId(known.target.id)} already: leave --dataset out, or make another copy with --dataset new`;
    throw refusal(message);
  }
  const found = known ?? (await findDataset(api, id, true));
  if (!found?.there) throw refusal(`the target has no dataset ${shownId(id)}`);
  const own = new Set([...facts.documents.values()].map(({ target_id }) => target_id));
  const foreign = [...found.there.documents.ids].find((document) => !own.has(document));
  if (!known && foreign !== undefined) {
    const message = `the dataset ${shownId(id)} has documents that this restore did not make, such as ${shownId(foreign)}: name an empty one, or make one with --dataset new`;
    throw refusal(message);
  }
  const standing = textIn(found.there.settings.doc_form);
  if (!known && standing && form !== null && standing !== form) {
    const message = `the dataset ${shownId(id)} takes documents of the form ${shownId(standing)}, and these have the form ${shownId(form)}: name an empty one, or make one with --dataset new`;
    throw refusal(message);
  }
  return found;
}

function refusal(message: string): UsageError {
  const problem: Problem = { path: "--dataset", message };
  return new UsageError("The documents cannot be restored there:", [problem]);
}

/** Gives every dataset a name that no other has, here or at the target. */
async function nameFresh(
  api: TargetApi,
  fresh: readonly WishedDataset[],
  targets: Map<string, FoundTarget>,
): Promise<string | null> {
  const { names, flaw } = await askNames(api);
  const taken = new Set(names);
  for (const { key, name: wish } of fresh) {
    const name = freeName(wish, taken);
    taken.add(name);
    targets.set(key, { target: { kind: "new", name }, there: null, adopted: false });
  }
  return flaw;
}
