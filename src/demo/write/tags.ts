import * as v from "valibot";
import { listOf, object, text } from "../../schema.js";
import { type Dataset, notFound } from "../knowledge.js";
import { jsonReply, noContent, type Route, route } from "../routes.js";
import { characters } from "../sample/prose.js";
import type { DocumentStore } from "../store/document-store.js";
import { checked } from "./requests.js";
import { answerLater, type WriteOptions } from "./write-options.js";

/** A tag as a dataset shows it. */
interface Tag {
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

const nameText = "a text of 1 to 50 characters";
const creation = object({
  name: v.pipe(
    v.string(nameText),
    v.check((value) => value !== "" && characters(value) <= 50, nameText),
  ),
});
const binding = object({ tag_ids: v.pipe(listOf(text), v.minLength(1, "a tag at least")), target_id: text });

/** The name of a request to create a tag. Throws a 400 that names every problem. */
function checkTagName(body: unknown): string {
  return checked(creation, body).name;
}

/** The tags of a request to bind them, and the dataset to bind them to; the same. */
function checkBinding(body: unknown) {
  return checked(binding, body);
}

/** The routes of tags. As in the service, the list has its counts as text. */
export function tagRoutes(tags: TagWrites): readonly Route[] {
  const all = "/v1/datasets/tags";
  return [
    route("GET", all, () =>
      jsonReply(
        200,
        tags.list().map(({ bindings, ...tag }) => ({ ...tag, binding_count: String(bindings) })),
      ),
    ),
    route("POST", all, async ({ body }) =>
      jsonReply(200, { ...(await tags.create(checkTagName(await body()))), binding_count: 0 }),
    ),
    route("POST", `${all}/binding`, async ({ body }) => {
      const { tag_ids, target_id } = checkBinding(await body());
      await tags.bind(tag_ids, target_id);
      return noContent;
    }),
    route("GET", "/v1/datasets/:dataset/tags", ({ id }) => {
      const data = tags.listOf(id("dataset")).map((tag) => ({ id: tag.id, name: tag.name }));
      return jsonReply(200, { data, total: data.length });
    }),
  ];
}
