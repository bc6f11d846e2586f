import type { Dataset } from "../../knowledge.js";
import { notFound } from "../../refusal.js";
import type { DocumentStore } from "../../store/document-store.js";
import { answerLater, type WriteOptions } from "../write-options.js";

/** A tag as a dataset shows it. */
export interface Tag {
  readonly id: string;
  readonly name: string;
  readonly type: "knowledge";
}

/** The tags of a service, each of which may be bound to any number of datasets. */
export class TagWrites {
  readonly #store: DocumentStore;
  readonly #options: Required<WriteOptions>;
  readonly #tags = new Map<string, Tag>();

  constructor(store: DocumentStore, options: Required<WriteOptions>) {
    this.#store = store;
    this.#options = options;
  }

  /** All tags, and to how many datasets each is bound, newest first. */
  list(): readonly (Tag & { readonly bindings: number })[] {
    const bound = this.#store.datasets().flatMap(tagsOf);
    const countOf = (tag: Tag) => bound.filter(({ id }) => id === tag.id).length;
    return [...this.#tags.values()].reverse().map((tag) => ({ ...tag, bindings: countOf(tag) }));
  }

  /** The tags of a dataset. */
  listOf(datasetId: string): readonly Tag[] {
    return tagsOf(this.#store.dataset(datasetId));
  }

  /** Creates a tag, even if there is one of that name. */
  async create(name: string): Promise<Tag> {
    const tag: Tag = { id: this.#options.newId(), name, type: "knowledge" };
    this.#tags.set(tag.id, tag);
    await answerLater(this.#options);
    return tag;
  }

  /** Binds tags to a dataset; one that is bound already stays so. Throws a 404 for a tag or dataset that is unknown. */
  async bind(tagIds: readonly string[], datasetId: string): Promise<void> {
    const dataset = this.#store.dataset(datasetId);
    const bound = tagsOf(dataset);
    const added = tagIds.map((id) => this.#find(id)).filter((tag) => !bound.some(({ id }) => id === tag.id));
    this.#store.writeDataset({ ...dataset, tags: [...bound, ...new Set(added)] });
    await answerLater(this.#options);
  }

  #find(tagId: string): Tag {
    const tag = this.#tags.get(tagId.toLowerCase());
    if (!tag) throw notFound("Tag");
    return tag;
  }
}

/** The tags in the row of a dataset. They come from nowhere else. */
function tagsOf({ tags }: Dataset): readonly Tag[] {
  return Array.isArray(tags) ? tags : [];
}
