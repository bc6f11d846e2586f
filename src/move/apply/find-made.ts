import type { Listed } from "../../client/check-list.js";
import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { LookAhead } from "../../crawl/look-ahead.js";
import { type ReadPage, readList } from "../../crawl/read-list.js";
import { isMapping } from "../../schema.js";
import type { MoveJournal } from "../journal/move-journal.js";
import type { Found } from "./look-for-write.js";

type FindOptions = { readonly api: KnowledgeApi; readonly journal: MoveJournal };

/** Finds the dataset of this name that a lost answer is about: names stand for one dataset each, and a new one is empty. */
export async function findDataset({ api }: FindOptions, name: string): Promise<Found | undefined> {
  return findListed(
    (page) => api.datasets(page),
    (row) => row.name === name && Number(row.document_count ?? 0) === 0,
  );
}

/** Finds a document that a lost answer is about. One of this name that the journal does not know is ours, as documents are made one at a time. */
export async function findDocument(
  { api, journal }: FindOptions,
  datasetId: string,
  name: string,
): Promise<Found | undefined> {
  return findListed(
    (page) => api.documents(datasetId, page),
    (row) => row.name === name && !journal.madeDocuments.has(row.id),
  );
}

export interface StandingField {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

export interface StandingFields {
  readonly fields: readonly StandingField[];
  readonly hasBuiltIn: boolean;
}

/** The metadata fields of a dataset, and whether it shows the built-in ones. */
export async function readFields({ api }: Pick<FindOptions, "api">, datasetId: string): Promise<StandingFields> {
  const { doc_metadata, built_in_field_enabled } = await api.datasetMetadata(datasetId);
  const fields = Array.isArray(doc_metadata) ? doc_metadata.filter(isField) : [];
  return { fields, hasBuiltIn: built_in_field_enabled === true };
}

/** Finds a metadata field by its name. */
export async function findField(options: FindOptions, datasetId: string, name: string): Promise<Found | undefined> {
  const { fields } = await readFields(options, datasetId);
  return foundIn(fields.find((field) => field.name === name));
}

/** Finds a tag by its name. */
export async function findTag({ api }: Pick<FindOptions, "api">, name: string): Promise<Found | undefined> {
  return foundIn((await api.tags()).find((tag) => tag.name === name));
}

function isField(value: unknown): value is StandingField {
  return isMapping(value) && [value.id, value.name, value.type].every((each) => typeof each === "string");
}

async function findListed(readPage: ReadPage, isIt: (row: Listed) => boolean): Promise<Found | undefined> {
  for await (const { rows } of readList(readPage, new LookAhead(1))) {
    const found = rows.find(isIt);
    if (found) return foundIn(found);
  }
  return undefined;
}

function foundIn(row: { readonly id: string } | undefined): Found | undefined {
  return row && { ids: [row.id] };
}
