import pLimit from "p-limit";
import { ifSkipped, SkipError } from "../../errors.js";
import { nameText } from "../../words.js";
import { plannedWrite, readFields, type StandingField } from "../reconcile.js";
import { madeBy, sideBySide, writeNow } from "../write-once.js";
import { copyDocument, type Home } from "./copy-document.js";
import { type CopyPlan, countCopy, type DatasetPlan, type FieldPlan, wishedName } from "./copy-plan.js";
import type { AppliedCopy } from "./copy-result.js";
import { type ApplyOptions, writeToDataset } from "./document-work.js";

/**
 * Executes a plan that was made after `reconcile`: makes the datasets, then copies several documents at once. A failed document does
 * not stop the others. Rejects with StopError if the key is refused or the disk fails, and with the reason of the signal.
 */
export async function applyCopy(plan: CopyPlan, options: ApplyOptions): Promise<AppliedCopy> {
  const { journal, progress } = options;
  const full = { ...options, onWrite: () => void progress.writes++, alone: pLimit(1) };
  const { chunks, children, documents: coming, there } = countCopy(plan);
  Object.assign(progress, { documents: coming + there, chunks, children });
  const problems: string[] = [];
  const missingTags = new Map<string, readonly string[]>();
  const works = [];
  for (const dataset of plan.datasets) {
    const chosen = dataset.documents.filter(({ refused }) => refused === null);
    if (dataset.documents.length > 0 && chosen.length === 0) continue;
    const { home, ...opened } = await openDataset(dataset, full);
    problems.push(...opened.problems);
    missingTags.set(dataset.key, opened.missingTags);
    for (const document of chosen) works.push({ document, home });
  }
  const documents = await sideBySide(works, options, ({ document, home }, signal) =>
    copyDocument(document, home, { ...full, signal }),
  );
  return { plan, copied: { documents: [...documents], problems, writes: journal.writes }, missingTags };
}

interface DatasetCopy {
  readonly plan: DatasetPlan;
  readonly id: string;
  readonly options: ApplyOptions;
  /** Runs work. Notes a SkipError as a problem: the dataset's name, then `what`, then the message. */
  readonly trying: <T>(what: string, work: () => Promise<T>) => Promise<T | undefined>;
}

/** Makes or finds a dataset, and adds what it lacks. `problems`: sentences. `missingTags`: names of tags that could not be bound. */
async function openDataset(plan: DatasetPlan, options: ApplyOptions) {
  const problems: string[] = [];
  const name = nameText(wishedName(plan));
  const trying: DatasetCopy["trying"] = (what, work) =>
    work().catch(ifSkipped(({ message }) => void problems.push(`dataset ${name}: ${what}${message}`)));
  const id = await trying("", () => chooseDataset(plan, options));
  const opened = (home: Home, missingTags: readonly string[] = []) => ({ home, missingTags, problems });
  if (id === undefined) return opened({ failure: problems.join() });
  const copy = { plan, id, options, trying };
  const fields = await addFields(copy);
  const missingTags = plan.tags.length === 0 ? [] : await trying("its tags: ", () => bindTags(copy));
  return opened({ id, fields }, missingTags ?? plan.tags);
}

/** The id of the dataset, which is made if it is new. */
async function chooseDataset(plan: DatasetPlan, options: ApplyOptions): Promise<string> {
  const { journal, writer } = options;
  const { key, dataset_id, target } = plan;
  if (target.kind === "there") {
    if (journal.facts.datasets.get(key)?.id !== target.id) await journal.noteDataset(key, target);
    return target.id;
  }
  const { name } = target;
  if (journal.open.some((intent) => intent.write === "create dataset" && intent.dataset_id === key))
    throw new SkipError("it is not known whether an earlier process made the dataset; restore again later");
  const facts = { write: "create dataset", dataset_id: key, old_id: dataset_id, name } as const;
  const request = writer.createDataset({ name, ...plan.settings });
  const executed = await writeNow(options, plannedWrite(facts, request, { datasetId: "", documentId: "" }, options));
  if (executed.kind === "refused") throw new SkipError(`${executed.reason}; ${adviceOn(executed.status)}`);
  const [id] = madeBy(executed, "make the dataset");
  if (id === undefined) throw new SkipError("the service made the dataset, but its id is not known; restore again");
  return id;
}

function adviceOn(status: number): string {
  if (status === 409) return "the name was taken meanwhile: plan again";
  const which = status === 400 ? "a dataset with a model of that service" : "a dataset";
  return `make ${which} there, and name it with --dataset`;
}

/** Adds missing metadata fields, and turns on the built-in ones if planned. Returns the fields by name; none if the plan needs none. */
async function addFields({ plan, id, options, trying }: DatasetCopy): Promise<ReadonlyMap<string, StandingField>> {
  const { api, writer } = options;
  const dataset_id = plan.key;
  const fields = new Map<string, StandingField>();
  const add = async ({ name, type }: FieldPlan) => {
    const there = fields.get(name);
    if (there?.type === type) return;
    if (there) throw new SkipError(`it is of the type ${there.type} there, and of the type ${type} in the dump`);
    const facts = { write: "create field", dataset_id, old_id: name, name } as const;
    const request = writer.createMetadataField(id, { type, name });
    const [made = ""] = await writeToDataset({ facts, request }, id, "make it", options);
    fields.set(name, { id: made, name, type });
  };
  if (plan.fields.length === 0 && !plan.built_in_fields) return fields;
  await trying("its metadata fields: ", async () => {
    const standing = await readFields(api, id);
    for (const field of standing.fields) fields.set(field.name, field);
    for (const field of plan.fields) await trying(`the metadata field ${nameText(field.name)}: `, () => add(field));
    if (!plan.built_in_fields || standing.hasBuiltIn) return;
    const facts = { write: "set built-in fields", dataset_id } as const;
    const request = writer.setBuiltInFields(id, "enable");
    await trying("the built-in metadata fields: ", () =>
      writeToDataset({ facts, request }, id, "enable them", options),
    );
  });
  return fields;
}

/** Creates missing tags, then binds all missing ones to the dataset in one request. Returns the names that could not be created. */
async function bindTags({ plan: { key, tags }, id, options, trying }: DatasetCopy): Promise<readonly string[]> {
  const { api, writer } = options;
  const readMissing = async () => {
    const names = new Set((await api.datasetTags(id)).map(({ name }) => name));
    return tags.filter((name) => !names.has(name));
  };
  const missing = await readMissing();
  const ids = new Map<string, string>();
  for (const name of missing)
    await trying(`the tag ${nameText(name)}: `, async () => {
      const facts = { write: "create tag", dataset_id: key, old_id: name, name } as const;
      const found = (await api.tags().catch(nameTagDefect)).find((tag) => tag.name === name);
      const request = writer.createTag(name);
      const make = () => writeToDataset({ facts, request }, id, "make it", options).catch(nameTagDefect);
      for (const tag of found ? [found.id] : await make()) ids.set(name, tag);
    });
  const unmade = missing.filter((name) => !ids.has(name));
  if (ids.size === 0) return unmade;
  const find = async () => ((await readMissing()).length <= missing.length - ids.size ? { ids: [] } : undefined);
  const facts = { write: "bind tags", dataset_id: key } as const;
  madeBy(await writeNow(options, { facts, request: writer.bindTags(id, [...ids.values()]), find }), "bind them");
  return unmade;
}

/** Release 1.12.1 creates a tag but answers 400, and then lists no tags: its schema expects binding_count as a string. */
function nameTagDefect(error: unknown): never {
  if (!(error instanceof SkipError) || !error.message.includes("binding_count")) throw error;
  const defect = "the service makes tags, but cannot show them (400, binding_count), a defect of release 1.12.1";
  throw new SkipError(`${defect}; update it, then run the same command again, which binds them`, { cause: error });
}
