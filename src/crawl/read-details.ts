import type { KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import type { DatasetJob } from "../job/job.js";
import { type RawRecord, type Row, rowSchema } from "../rows/row.js";
import {
  type Drift,
  DriftCount,
  driftSchema,
  type RowOptions,
  recordWithoutSignatures,
  rowFromRecord,
} from "../rows/row-from-record.js";
import { listOf, object, text } from "../schema.js";
import { countOf } from "../words.js";
import type { ListedDataset } from "./discovery.js";

type DetailsApi = Pick<KnowledgeApi, "dataset" | "datasetMetadata" | "datasetTags" | "document">;

/** Rows of `datasets` and `document_details`, and a sentence for everything that the service did not return. */
export interface DetailsReading {
  readonly datasets: readonly Row[];
  readonly documents: readonly Row[];
  readonly missing: readonly string[];
  readonly drift: Drift;
}

export const detailsReadingSchema = object({
  datasets: listOf(rowSchema),
  documents: listOf(rowSchema),
  missing: listOf(text),
  drift: driftSchema,
});

/** Something that the service did not return. */
interface Missing {
  readonly thing: "settings" | "metadata fields" | "tags" | "details";
  readonly of: "dataset" | "document";
  readonly id: string;
  readonly error: SkipError;
}

/** The datasets and documents to ask for. */
export interface DetailsAsked {
  /** Datasets whose settings are read. */
  readonly datasets: readonly ListedDataset[];
  /** Datasets whose documents' details are read. */
  readonly documentsOf: readonly ListedDataset[];
}

/**
 * Asks once for the settings, metadata fields and tags of every dataset, and for the details of every document. Missing answers do
 * not fail the run: the service may be too old, or the key may lack permission.
 */
export async function readDetails(
  api: DetailsApi,
  { datasets, documentsOf }: DetailsAsked,
  keepSignatures: boolean,
): Promise<DetailsReading> {
  const count = new DriftCount();
  const options: RowOptions = { keepSignatures: true, drift: count.add }; // removed below, from all fields
  const missing: Missing[] = [];
  const shown = (record: RawRecord) => (keepSignatures ? record : recordWithoutSignatures(record));
  const ask = async <T>(place: Omit<Missing, "error">, question: Promise<T>): Promise<T | undefined> =>
    question.catch((error: unknown) => {
      if (!(error instanceof SkipError)) throw error;
      missing.push({ ...place, error });
      return undefined;
    });
  const readDataset = async ({ id }: ListedDataset) => {
    const of = "dataset";
    const [settings, metadata, tags] = await Promise.all([
      ask({ thing: "settings", of, id }, api.dataset(id)),
      ask({ thing: "metadata fields", of, id }, api.datasetMetadata(id)),
      ask({ thing: "tags", of, id }, api.datasetTags(id)),
    ]);
    const record = { ...settings, ...metadata, ...(tags && { tags }), id };
    return settings || metadata || tags ? [rowFromRecord("datasets", shown(record), {}, options)] : [];
  };
  const readDocument = async (datasetId: string, id: string) => {
    const record = await ask({ thing: "details", of: "document", id }, api.document(datasetId, id));
    const known = { dataset_id: datasetId };
    return record ? [rowFromRecord("document_details", shown({ ...record, id }), known, options)] : [];
  };
  const documents = documentsOf.flatMap(({ id, documents }) => documents.map((document) => [id, document] as const));
  const [settings, details] = await Promise.all([
    Promise.all(datasets.map(readDataset)),
    Promise.all(documents.map(([datasetId, id]) => readDocument(datasetId, id))),
  ]);
  return { datasets: settings.flat(), documents: details.flat(), missing: sentencesOf(missing), drift: count.drift };
}

/** One sentence for each kind of thing, because an old service lacks it for every document. */
function sentencesOf(missing: readonly Missing[]): readonly string[] {
  return (["settings", "metadata fields", "tags", "details"] as const).flatMap((thing) => {
    const all = missing.filter((each) => each.thing === thing);
    const [first] = all;
    if (!first) return [];
    const { of, id, error } = first;
    const which = all.length === 1 ? `${of} ${id}` : `${countOf(all.length, of)}, such as ${id},`;
    return [`the ${thing} of ${which} are not in this dump: ${reasonOf(error)}`];
  });
}

/** An older service answers an unknown URL with a web page. */
function reasonOf({ status, code, message }: SkipError): string {
  return status === 404 && code === undefined ? "this service does not know this request (404)" : message;
}

/** Rows of `metadata_fields`, with a sentence for every dataset that failed and for every dataset whose service has no such list. */
export interface FieldsReading {
  readonly rows: readonly Row[];
  readonly failures: readonly string[];
  readonly absent: readonly string[];
  readonly drift: Drift;
}

export const fieldsReadingSchema = object({
  rows: listOf(rowSchema),
  failures: listOf(text),
  absent: listOf(text),
  drift: driftSchema,
});

/** Asks for the built-in metadata fields of every dataset once. Older services do not know this URL and answer with an HTML 404. */
export async function readMetadataFields(api: KnowledgeApi, datasets: readonly DatasetJob[]): Promise<FieldsReading> {
  const count = new DriftCount();
  const options = { keepSignatures: true, drift: count.add };
  const readings = await Promise.all(
    datasets.map(async ({ id }) => {
      try {
        const fields = await api.metadataFields(id);
        const rows = fields.map((field, index) =>
          rowFromRecord("metadata_fields", field, { dataset_id: id, position: index + 1 }, options),
        );
        return { rows, failures: [], absent: [] };
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
        const sentence = `metadata fields of dataset ${id}: ${error.message}`;
        const absent = error.status === 404 && error.code === undefined;
        return absent ? { rows: [], failures: [], absent: [sentence] } : { rows: [], failures: [sentence], absent: [] };
      }
    }),
  );
  return {
    rows: readings.flatMap(({ rows }) => rows),
    failures: readings.flatMap(({ failures }) => failures),
    absent: readings.flatMap(({ absent }) => absent),
    drift: count.drift,
  };
}
