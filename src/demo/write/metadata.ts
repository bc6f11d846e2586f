import * as v from "valibot";
import { listOf, object, oneOf, text } from "../../schema.js";
import { builtInFields, type OwnField, ownFields } from "../index-knowledge.js";
import { invalidParam, notFound } from "../knowledge.js";
import { jsonReply, type Route, route } from "../routes.js";
import { characters } from "../sample/prose.js";
import type { DocumentStore } from "../store/document-store.js";
import { checked } from "./requests.js";
import { answerLater, type WriteOptions } from "./write-options.js";

/** The writes to metadata. Each is done at once, before its answer waits for the delay. */
export class MetadataWrites {
  readonly #store: DocumentStore;
  readonly #options: Required<WriteOptions>;

  constructor(store: DocumentStore, options: Required<WriteOptions>) {
    this.#store = store;
    this.#options = options;
  }

  /** Creates a field. Throws a 400 for a name that is blank, too long, built-in or taken. */
  async createField(datasetId: string, { type, name }: FieldCreation): Promise<OwnField> {
    const dataset = this.#store.dataset(datasetId);
    const fields = ownFields(dataset);
    if (name.trim() === "") throw invalidParam("Metadata name is empty.");
    if (characters(name) > 255) throw invalidParam("Metadata name cannot exceed 255 characters.");
    if (fields.some((field) => field.name === name)) throw invalidParam("Metadata name already exists.");
    if (builtInFields.some((field) => field.name === name)) {
      throw invalidParam("Metadata name already exists in Built-in fields.");
    }
    const field = { id: this.#options.newId(), name, type };
    this.#store.writeDataset({ ...dataset, doc_metadata: [...fields, field] });
    await answerLater(this.#options);
    return field;
  }

  /** Enables or disables the built-in fields. */
  async setBuiltIn(datasetId: string, isEnabled: boolean): Promise<void> {
    this.#store.writeDataset({ ...this.#store.dataset(datasetId), built_in_field_enabled: isEnabled });
    await answerLater(this.#options);
  }

  /**
   * Gives documents new values in place of all old ones. Throws a 404 for a document or field that is unknown, and a 400 for a document
   * that is being indexed; then no value changes.
   */
  async setValues(datasetId: string, operations: readonly MetadataOperation[]): Promise<void> {
    const fields = ownFields(this.#store.dataset(datasetId));
    const changes = operations.map(({ document_id, metadata_list }) => {
      const { row } = this.#store.readIn(datasetId, document_id);
      this.#store.checkIdle(row.id);
      return { id: row.id, values: metadata_list.map((value) => fieldValue(fields, value)) };
    });
    for (const { id, values } of changes) this.#store.setFields(id, { doc_metadata: values });
    await answerLater(this.#options);
  }
}

/** The value as documents show it. As in the service it is stored by the name that was sent, and found by the name of its field. */
function fieldValue(fields: readonly OwnField[], sent: MetadataOperation["metadata_list"][number]) {
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

/** A metadata field to create. */
type FieldCreation = Readonly<v.InferOutput<typeof creation>>;

/** The values that a document shall have in place of all that it has. */
type MetadataOperation = Readonly<v.InferOutput<typeof operations>>["operation_data"][number];

/** The field of a request to create it. Throws a 400 that names every problem. */
function checkField(body: unknown): FieldCreation {
  return checked(creation, body);
}

/** The operations of a request to set the values of documents; the same. */
function checkOperations(body: unknown): readonly MetadataOperation[] {
  return checked(operations, body).operation_data;
}

const success = jsonReply(200, { result: "success" });

/** The routes of the writes to metadata. */
export function metadataRoutes(metadata: MetadataWrites): readonly Route[] {
  const dataset = "/v1/datasets/:dataset";
  return [
    route("POST", `${dataset}/metadata`, async ({ id, body }) =>
      jsonReply(201, await metadata.createField(id("dataset"), checkField(await body()))),
    ),
    route("POST", `${dataset}/metadata/built-in/:action`, async ({ id }) => {
      const action = id("action");
      if (action !== "enable" && action !== "disable") throw invalidParam(`Invalid action: ${action}.`);
      await metadata.setBuiltIn(id("dataset"), action === "enable");
      return success;
    }),
    route("POST", `${dataset}/documents/metadata`, async ({ id, body }) => {
      await metadata.setValues(id("dataset"), checkOperations(await body()));
      return success;
    }),
  ];
}
