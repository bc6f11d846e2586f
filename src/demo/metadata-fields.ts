import type { Dataset, Document, MetadataField } from "./knowledge.js";
import type { DocumentDetails } from "./store/new-document.js";

/** The built-in metadata fields, the same for every dataset. */
export const builtInFields: readonly MetadataField[] = [
  { name: "document_name", type: "string" },
  { name: "uploader", type: "string" },
  { name: "upload_date", type: "time" },
  { name: "last_update_date", type: "time" },
  { name: "source", type: "string" },
];

/** A metadata field that a dataset was given. */
export interface OwnField {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/** The metadata fields that a dataset was given. */
export function ownFields({ doc_metadata }: Dataset): readonly OwnField[] {
  return Array.isArray(doc_metadata) ? doc_metadata : [];
}

/** The same, each with the number of documents that have a value in it. */
export function countedFields(dataset: Dataset, documents: readonly Document[]) {
  const used = documents.flatMap(({ doc_metadata }): readonly OwnField[] =>
    Array.isArray(doc_metadata) ? doc_metadata : [],
  );
  return ownFields(dataset).map((field) => ({ ...field, count: used.filter(({ id }) => id === field.id).length }));
}

/** The id that the service gives to each built-in field, in place of one of its own. */
const builtIn = "built-in";

/** The dataset as it is answered: behind its own metadata fields are the built-in ones, if it has enabled them. */
export function withBuiltInFields(dataset: Dataset): Dataset {
  const { doc_metadata, built_in_field_enabled } = dataset;
  if (built_in_field_enabled !== true || !Array.isArray(doc_metadata)) return dataset;
  return { ...dataset, doc_metadata: [...doc_metadata, ...builtInFields.map((field) => ({ id: builtIn, ...field }))] };
}

/**
 * The row of a document as it is answered: behind its own metadata values are the built-in ones, if its dataset has enabled them or if
 * there are own ones. Times are texts, as in the service.
 */
export function withBuiltInValues(
  row: Document,
  details: Pick<DocumentDetails, "updated_at"> | undefined,
  { built_in_field_enabled, author_name = null }: Dataset,
): Document {
  const { doc_metadata, created_at } = row;
  if (!Array.isArray(doc_metadata) || (built_in_field_enabled !== true && doc_metadata.length === 0)) return row;
  const values = [
    row.name,
    author_name,
    timeText(created_at),
    timeText(details?.updated_at ?? created_at),
    "file_upload",
  ];
  const shown = builtInFields.map((field, index) => ({ id: builtIn, ...field, value: values[index] }));
  return { ...row, doc_metadata: [...doc_metadata, ...shown] };
}

/** Seconds with a fraction, as Python writes them. */
function timeText(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}.0` : String(seconds);
}
