import pLimit from "p-limit";
import type { PreparedWrite } from "../../client/write/operations.js";
import { SkipError } from "../../errors.js";
import { nameText } from "../../words.js";
import type { WriteFacts } from "../journal-schema.js";
import { plannedWrite, readFields, type StandingField } from "../reconcile.js";
import { type Answered, madeBy, sideBySide, writeNow } from "../write-once.js";
import { copyDocument, type Home } from "./copy-document.js";
import { type CopyPlan, type DatasetPlan, type FieldPlan, wishedName } from "./copy-plan.js";
import { type AppliedCopy, countCopy } from "./copy-result.js";
import type { ApplyOptions } from "./document-work.js";

/**
 * Executes a plan that was made after `reconcile`: makes the datasets and copies several documents at once, with one writer for
 * each. A failed document does not stop the others. Rejects with StopError if the key is refused or the disk fails, and with the
 * reason of the signal.
 */
export async function applyCopy(plan: CopyPlan, options: ApplyOptions): Promise<AppliedCopy> {
  const onWrite = () => void options.progress.writes++;
  const full = { ...options, onWrite, alone: pLimit(1) };
  const { chunks, children, ...counts } = countCopy(plan);
  Object.assign(options.progress, { documents: counts.documents + counts.there, chunks, children });
  const problems: string[] = [];
  const missingTags = new Map<string, readonly string[]>();
  const works = [];
  for (const dataset of plan.datasets) {
    if (dataset.documents.length > 0 && dataset.documents.every(({ refused }) => refused !== null)) continue;
    const { home, ...opened } = await openDataset(dataset, full);
    problems.push(...opened.problems);
    missingTags.set(dataset.key, opened.missingTags);
    for (const document of dataset.documents) if (document.refused === null) works.push({ document, home });
  }
  const documents = await sideBySide(works, options, ({ document, home }, signal) =>
    copyDocument(document, home, { ...full, signal }),
  );
  return { plan, copied: { documents: [...documents], problems, writes: options.journal.writes }, missingTags };
}

/** A dataset of the target with its metadata fields and tags. */
interface OpenedDataset {
  readonly home: Home;
  /** Names of tags that could not be bound. */
  readonly missingTags: readonly string[];
  /** Sentences about what could not be made: the dataset, a field or a tag. */
  readonly problems: readonly string[];
}

/** Makes or finds the dataset for these documents, and adds the metadata fields, built-in fields and tags that it lacks. */
async function openDataset(plan: DatasetPlan, options: ApplyOptions): Promise<OpenedDataset> {
  const fields = new Map<string, StandingField>();
  const problems: string[] = [];
  const trying = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      problems.push(`dataset ${nameText(wishedName(plan))}: ${what}${error.message}`);
      return undefined;
    }
  };
  const id = await trying("", () => chooseDataset(plan, options));
  if (id === undefined) return { home: { failure: problems.join() }, missingTags: [], problems };
  if (plan.fields.length > 0 || plan.built_in_fields)
    await trying("its metadata fields: ", async () => {
      const standing = await readFields(options.api, id);
      for (const field of standing.fields) fields.set(field.name, field);
      for (const field of plan.fields)
        await trying(`the metadata field ${nameText(field.name)}: `, async () => {
          fields.set(field.name, await fieldOf(plan, id, field, fields.get(field.name), options));
        });
      if (plan.built_in_fields && !standing.hasBuiltIn)
        await trying("the built-in metadata fields: ", () => {
          const facts = { write: "set built-in fields", dataset_id: plan.key } as const;
          return writeTo(id, facts, options.writer.setBuiltInFields(id, "enable"), "enable them", options);
        });
    });
  if (plan.tags.length === 0) return { home: { id, fields }, missingTags: [], problems };
  const missingTags = await trying("its tags: ", () => bindTags(plan, id, options, trying));
  return { home: { id, fields }, missingTags: missingTags ?? plan.tags, problems };
}

/**
 * Makes the dataset of the target for these documents, or uses the existing one; returns its id. Throws SkipError if it cannot be
 * made.
 */
async function chooseDataset(plan: DatasetPlan, options: ApplyOptions): Promise<string> {
  const { journal } = options;
  const { key, target } = plan;
  if (target.kind === "new") return createDataset(plan, target.name, options);
  if (journal.facts.datasets.get(key)?.id !== target.id) await journal.noteDataset(key, target);
  return target.id;
}

async function createDataset(plan: DatasetPlan, name: string, options: ApplyOptions): Promise<string> {
  const { journal, writer } = options;
  const { key, dataset_id } = plan;
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
  return "make a dataset with a model of that service there, and name it with --dataset";
}

async function fieldOf(
  { key }: DatasetPlan,
  id: string,
  { name, type }: FieldPlan,
  standing: StandingField | undefined,
  options: ApplyOptions,
): Promise<StandingField> {
  if (standing && standing.type !== type)
    throw new SkipError(`it is of the type ${standing.type} there, and of the type ${type} in the dump`);
  if (standing) return standing;
  const facts = { write: "create field", dataset_id: key, old_id: name, name } as const;
  const request = options.writer.createMetadataField(id, { type, name });
  const [made = ""] = await writeTo(id, facts, request, "make it", options);
  return { id: made, name, type };
}

/** Sends a write to a dataset; returns the ids of the objects that it made. `deed`: what the write does, for the SkipError if it fails. */
async function writeTo<T extends Answered>(
  datasetId: string,
  facts: WriteFacts,
  request: PreparedWrite<T>,
  deed: string,
  options: ApplyOptions,
): Promise<readonly string[]> {
  const planned = plannedWrite(facts, request, { datasetId, documentId: "" }, options);
  return madeBy(await writeNow(options, planned), deed);
}

type Trying = (what: string, work: () => Promise<unknown>) => Promise<unknown>;

/**
 * Binds all tags that the dataset lacks in one request, after creating the tags that the service lacks. Returns the names
 * of tags that could not be created.
 */
async function bindTags(
  { key, tags }: DatasetPlan,
  id: string,
  options: ApplyOptions,
  trying: Trying,
): Promise<readonly string[]> {
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
      const make = () => writeTo(id, facts, writer.createTag(name), "make it", options).catch(nameTagDefect);
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
