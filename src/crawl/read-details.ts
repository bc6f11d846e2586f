import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import { SkipError } from "../errors.js";
import type { DatasetJob } from "../job/job.js";
import { documentKey, type RawRecord, type Row, rowSchema } from "../rows/row.js";
import {
  type Drift,
  DriftCount,
  driftSchema,
  type RowOptions,
  recordWithoutSignatures,
  rowFromRecord,
} from "../rows/row-from-record.js";
import { listOf, object, text } from "../schema.js";
import { countOf, listText } from "../words.js";
import type { ListedDataset } from "./discovery.js";

type DetailsApi = Pick<KnowledgeApi, "dataset" | "datasetMetadata" | "datasetTags" | "document">;

/** Rows of `datasets` and `document_details`, and a sentence for everything that the service did not return. */
export interface DetailsReading {
  readonly datasets: readonly Row[];
  readonly documents: readonly Row[];
  readonly missing: readonly string[];
  readonly drift: Drift;
}

const detailsReadingSchema = object({
  datasets: listOf(rowSchema),
  documents: listOf(rowSchema),
  missing: listOf(text),
  drift: driftSchema,
});

/**
 * The schema of a stored reading of these documents. An earlier process may have read others, because it found other documents
 * edited, or had another value of `details`.
 */
export function detailsReadingOf({ documents }: DetailsAsked): v.GenericSchema<unknown, DetailsReading> {
  const keys = documents.map(documentKey);
  const isOfThese = (reading: DetailsReading) => isDeepStrictEqual(reading.documents.map(documentKey), keys);
  return v.pipe(detailsReadingSchema, v.check(isOfThese));
}

const things = ["settings", "metadata fields", "tags", "details"] as const;

/** Something that the service did not return. */
interface Missing {
  readonly thing: (typeof things)[number];
  readonly of: "dataset" | "document";
  readonly id: string;
  readonly error: SkipError;
}

interface DocumentId {
  readonly dataset_id: string;
  readonly document_id: string;
}

/** The datasets and documents to ask for. */
export interface DetailsAsked {
  /** Datasets whose settings are read. */
  readonly datasets: readonly ListedDataset[];
  /** Documents whose details are read. */
  readonly documents: readonly DocumentId[];
}

/**
 * Asks once for the settings, metadata fields and tags of every dataset, and for the details of the documents. Missing answers do
 * not fail the run: the service may be too old, or the key may lack permission.
 */
export async function readDetails(
  api: DetailsApi,
  { datasets, documents }: DetailsAsked,
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
  const readDocument = async ({ dataset_id, document_id: id }: DocumentId) => {
    const record = await ask({ thing: "details", of: "document", id }, api.document(dataset_id, id));
    const known = { dataset_id };
    return record ? [rowFromRecord("document_details", shown({ ...record, id }), known, options)] : [];
  };
  const [settings, details] = await Promise.all([
    Promise.all(datasets.map(readDataset)),
    Promise.all(documents.map(readDocument)),
  ]);
  return { datasets: settings.flat(), documents: details.flat(), missing: sentencesOf(missing), drift: count.drift };
}

/**
 * Writes one sentence for each kind of data, because a key may lack permission for all data of a kind. The kinds that an older
 * service does not know share one sentence.
 */
function sentencesOf(missing: readonly Missing[]): readonly string[] {
  const isUnknown = ({ error }: Missing) => error.status === 404 && error.code === undefined; // an older service answers with a web page
  const unknown = things.filter((thing) => missing.some((each) => each.thing === thing && isUnknown(each)));
  const others = things.flatMap((thing) => {
    const all = missing.filter((each) => each.thing === thing && !isUnknown(each));
    const [first] = all;
    if (!first) return [];
    const { of, id, error } = first;
    const which = all.length === 1 ? `${of} ${id}` : `${countOf(all.length, of)}, such as ${id},`;
    return [`the ${thing} of ${which} are not in this dump: ${error.message}`];
  });
  if (unknown.length === 0) return others;
  const sentence = `${listText(unknown)} are not in this dump: this service does not know these requests (404); details: false asks for none`;
  return [sentence, ...others];
}

/** Rows of `metadata_fields`, with a sentence for every dataset that failed, or whose service lacks this list. */
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
