import * as v from "valibot";
import { type Details, invalidParam, type Knowledge, type Listed, notFound } from "../../../src/demo/knowledge.js";
import { jsonReply, type Route, route } from "../../../src/demo/routes.js";
import { builtInFields, characters } from "../../../src/demo/rows.js";
import { bodyOf } from "../../../src/demo/write-routes.js";
import { listOf, object, oneOf, text } from "../../../src/schema.js";
import type { Place } from "./writable-knowledge.js";
import type { WritableStore } from "./writable-store.js";

/** A user-defined metadata field of a dataset. */
interface OwnField {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/**
 * The read operations, but with user-defined metadata in datasets and documents, and with the built-in metadata while the dataset
 * has it enabled. A document with values of its own always shows the built-in ones.
 */
export function withMetadata(reads: Knowledge, store: WritableStore): Knowledge {
  const shownDataset = (dataset: Listed): Listed =>
    dataset.built_in_field_enabled === true && Array.isArray(dataset.doc_metadata)
      ? { ...dataset, doc_metadata: [...ownFields(dataset), ...builtInFields] }
      : dataset;
  const shownDocument = <Shown extends Details>(datasetId: string, shown: Shown) => {
    const { row, details } = store.readIn(datasetId, String(shown.id));
    const { built_in_field_enabled, author_name = null } = store.dataset(datasetId);
    const own = ownFields(row);
    if (!Array.isArray(row.doc_metadata) || (built_in_field_enabled !== true && own.length === 0)) return shown;
    const updatedAt = Number(details?.updated_at ?? row.created_at);
    const values = [row.name, author_name, timeText(row.created_at), timeText(updatedAt), "file_upload"];
    return { ...shown, doc_metadata: [...own, ...builtInFields.map((field, at) => ({ ...field, value: values[at] }))] };
  };
  return {
    ...reads,
    datasets: async (query) => {
      const { rows, total } = await reads.datasets(query);
      return { rows: rows.map(shownDataset), total };
    },
    dataset: (id) => shownDataset(store.dataset(id)),
    documents: async (datasetId, query) => {
      const { rows, total } = await reads.documents(datasetId, query);
      return { rows: rows.map((row) => shownDocument(datasetId, row)), total };
    },
    document: async (datasetId, id) => shownDocument(datasetId, await reads.document(datasetId, id)),
    datasetMetadata: (datasetId) => metadataOf(store, datasetId),
  };
}

/** Seconds with a fraction, in Python's format. */
function timeText(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}.0` : String(seconds);
}

/** The user-defined metadata fields of a dataset, each with the number of documents that have a value. */
function metadataOf(store: WritableStore, datasetId: string) {
  const dataset = store.dataset(datasetId);
  const used = store.documents(datasetId).flatMap(({ row }) => ownFields(row));
  const count = (field: OwnField) => used.filter(({ id }) => id === field.id).length;
  const doc_metadata = ownFields(dataset).map((field) => ({ ...field, count: count(field) }));
  return { doc_metadata, built_in_field_enabled: dataset.built_in_field_enabled ?? false };
}

/** The user-defined fields of a dataset, or values of a document. Sample data also has built-in ones. */
function ownFields({ doc_metadata }: Details): readonly OwnField[] {
  return Array.isArray(doc_metadata) ? doc_metadata.filter(({ id }) => id !== "built-in") : [];
}

const success = jsonReply(200, { result: "success" });

/** The routes that write metadata. */
export function metadataRoutes({ store, options }: Place): readonly Route[] {
  const path = "/v1/datasets/:dataset";
  return [
    route("POST", `${path}/metadata`, async (asked) => {
      const { type, name } = await bodyOf(creation, asked);
      const dataset = store.dataset(asked.id("dataset"));
      const fields = ownFields(dataset);
      checkName(name, fields);
      const field = { id: options.newId(), name, type };
      store.writeDataset({ ...dataset, doc_metadata: [...fields, field] });
      return jsonReply(201, field);
    }),
    route("POST", `${path}/metadata/built-in/:action`, ({ id }) => {
      const action = id("action");
      if (action !== "enable" && action !== "disable") throw invalidParam(`Invalid action: ${action}.`);
      store.writeDataset({ ...store.dataset(id("dataset")), built_in_field_enabled: action === "enable" });
      return success;
    }),
    // Sets values in documents: new values replace all old ones. If a document or field is unknown, or a document is being indexed,
    // no value changes.
    route("POST", `${path}/documents/metadata`, async (asked) => {
      const { operation_data } = await bodyOf(operations, asked);
      const datasetId = asked.id("dataset");
      const fields = ownFields(store.dataset(datasetId));
      const changes = operation_data.map(({ document_id, metadata_list }) => {
        const { row } = store.readIn(datasetId, document_id);
        store.checkIdle(row.id);
        return { id: row.id, values: metadata_list.map((value) => fieldValue(fields, value)) };
      });
      for (const { id, values } of changes) store.setFields(id, { doc_metadata: values });
      return success;
    }),
  ];
}

/** Checks the name of a new field. Throws a 400 for a name that is blank, too long, built-in or taken. */
function checkName(name: string, fields: readonly OwnField[]): void {
  if (name.trim() === "") throw invalidParam("Metadata name is empty.");
  if (characters(name) > 255) throw invalidParam("Metadata name cannot exceed 255 characters.");
  if (fields.some((field) => field.name === name)) throw invalidParam("Metadata name already exists.");
  if (builtInFields.some((field) => field.name === name)) {
    throw invalidParam("Metadata name already exists in Built-in fields.");
  }
}

/** The value in documents. Like in the service, it is stored under the sent name, but looked up by the name of its field. */
function fieldValue(fields: readonly OwnField[], sent: v.InferOutput<typeof value>) {
  const field = fields.find(({ id }) => id === sent.id.toLowerCase());
  if (!field) throw notFound("Metadata");
  return { ...field, value: sent.name === field.name ? (sent.value ?? null) : null };
}

const creation = object({ type: oneOf("string", "number", "time"), name: text });
const value = object({
  id: text,
  name: text,
  value: v.nullish(v.union([v.string(), v.number()], "a text, a number or null")),
});
const operations = object({
  operation_data: listOf(object({ document_id: text, metadata_list: listOf(value) })),
});
