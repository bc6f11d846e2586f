/** A metadata field of a dataset, as its documents name it. */
export interface UsedField {
  readonly id: string;
  readonly name: unknown;
  readonly type: unknown;
}

/**
 * The metadata fields that documents of a dataset carry, by what the service listed of them. Fields that no document of the
 * dump carries are not known, nor is how many documents of the whole dataset do.
 */
export class MetadataInUse {
  readonly #datasets = new Map<unknown, Map<string, UsedField>>();

  /** `extra` is that of a row of `document_info`: what no column names, `doc_metadata` among it. */
  add(dataset: unknown, extra: unknown): void {
    const carried = memberOf(extra, "doc_metadata");
    if (!Array.isArray(carried)) return;
    const fields = this.#datasets.get(dataset) ?? new Map<string, UsedField>();
    this.#datasets.set(dataset, fields);
    for (const field of carried) {
      const id = memberOf(field, "id");
      if (typeof id !== "string" || id === "built-in") continue; // every dataset has those, in a list of their own
      if (!fields.has(id)) fields.set(id, { id, name: memberOf(field, "name"), type: memberOf(field, "type") });
    }
  }

  /** Undefined where no document of the dataset says anything of metadata. */
  of(dataset: string): readonly UsedField[] | undefined {
    const fields = this.#datasets.get(dataset);
    return fields && [...fields.values()];
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
