import type { Details, Listed } from "../demo/knowledge.js";
import { filteredDatasets, type Manifest } from "../dump/manifest.js";
import type { DocumentRow } from "../rows/row.js";

/** The facts of a document that the service lists and a dump of chunks does not have. */
const unknownOfDocument = {
  name: null,
  position: null,
  indexing_status: null,
  display_status: null,
  created_at: null,
  tokens: null,
  word_count: null,
  hit_count: null,
  enabled: null,
  archived: null,
  error: null,
};

/** A document as the list of documents has it: what is not known is null. */
export function listedDocument({ document_id, doc_form }: DocumentRow): Listed {
  return { id: document_id, ...unknownOfDocument, doc_form };
}

/** The facts that the dump has of a document without a listed row; unknown ones are left out. */
export function knownOfDocument({ document_id, doc_form }: DocumentRow): Details {
  return { id: document_id, ...(doc_form === null ? {} : { doc_form }) };
}

/** A dataset on its own: what is not known is left out. */
export function knownOfDataset({ id, name }: NamedDataset, documents: number): Details {
  return { id, ...(name === null ? {} : { name }), document_count: documents };
}

/** A dataset as the list of datasets has it, with as many documents as the dump has. */
export function listedDataset({ id, name }: NamedDataset, documents: number): Listed {
  return { id, name, document_count: documents };
}

/** A dataset of a dump; the name is null where it is not known. */
export interface NamedDataset {
  readonly id: string;
  readonly name: string | null;
}

/** The datasets of a dump, in the order of its job, or of the service where that was asked; empty ones, too. */
export function datasetsOf({ options, discovered, documents }: Manifest): readonly NamedDataset[] {
  const listings = entriesOf(isObject(discovered) ? discovered.datasets : []).filter(
    ({ state }) => state !== "skipped",
  );
  const named = [...entriesOf(options.datasets).map(({ id }) => id), ...listings.map((listing) => listing.dataset_id)];
  const ids = new Set(
    [...named, ...documents.map(({ dataset_id }) => dataset_id)].filter((id) => typeof id === "string"),
  );
  const names = new Map(listings.map((listing) => [listing.dataset_id, listing.name]));
  return [...ids].map((id) => {
    const name = names.get(id);
    return { id, name: typeof name === "string" ? name : null };
  });
}

/** Whether the job read only some chunks, of the dataset or of any: then it is not known how many there are. */
export function isFiltered({ options }: Manifest, datasetId?: string): boolean {
  const filtered = filteredDatasets(options);
  return datasetId === undefined ? filtered.length > 0 : filtered.includes(datasetId);
}

function entriesOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
