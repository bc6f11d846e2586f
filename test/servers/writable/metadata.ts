import * as v from "valibot";
import { builtInFields } from "../../../src/demo/demo-knowledge.js";
import { invalidParam, notFound } from "../../../src/demo/knowledge.js";
import { jsonReply, type Route, route } from "../../../src/demo/routes.js";
import { characters, type Dataset } from "../../../src/demo/rows.js";
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

/** The user-defined metadata fields of a dataset, each with the number of documents that have a value. */
export function metadataOf(store: WritableStore, datasetId: string) {
  const dataset = store.dataset(datasetId);
  const used = store
    .documents(datasetId)
    .flatMap(({ row: { doc_metadata } }): readonly OwnField[] => (Array.isArray(doc_metadata) ? doc_metadata : []));
  const count = (field: OwnField) => used.filter(({ id }) => id === field.id).length;
  const doc_metadata = ownFields(dataset).map((field) => ({ ...field, count: count(field) }));
  return { doc_metadata, built_in_field_enabled: dataset.built_in_field_enabled ?? false };
}

function ownFields({ doc_metadata }: Dataset): readonly OwnField[] {
  return Array.isArray(doc_metadata) ? doc_metadata : [];
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
    // New values replace all old ones. If a document or field is unknown, or a document is being indexed, no value changes.
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

/** Throws a 400 for a name that is blank, too long, built-in or taken. */
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
