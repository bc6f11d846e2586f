import { builtInFields, type OwnField, ownFields } from "../../metadata-fields.js";
import { invalidParam, notFound } from "../../refusal.js";
import { characters } from "../../sample/prose/compose.js";
import type { DocumentStore } from "../../store/document-store.js";
import { answerLater, type WriteOptions } from "../write-options.js";
import type { FieldCreation, MetadataOperation } from "./requests.js";

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
