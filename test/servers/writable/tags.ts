import * as v from "valibot";
import { notFound } from "../../../src/demo/knowledge.js";
import { jsonReply, noContent, type Route, route } from "../../../src/demo/routes.js";
import { characters, type Dataset } from "../../../src/demo/rows.js";
import { bodyOf } from "../../../src/demo/write-routes.js";
import { listOf, object, text } from "../../../src/schema.js";
import type { Place } from "./writable-knowledge.js";

/** A tag in the row of a dataset. */
interface Tag {
  readonly id: string;
  readonly name: string;
  readonly type: "knowledge";
}

/** The routes for tags. A tag can be bound to any number of datasets. Like in the service, counts in the list are text. */
export function tagRoutes({ store, options }: Place): readonly Route[] {
  const tags = new Map<string, Tag>();
  const all = "/v1/datasets/tags";
  return [
    route("GET", all, () => {
      const bound = store.datasets().flatMap(tagsOf);
      const countOf = (tag: Tag) => String(bound.filter(({ id }) => id === tag.id).length);
      const newestFirst = [...tags.values()].reverse();
      return jsonReply(
        200,
        newestFirst.map((tag) => ({ ...tag, binding_count: countOf(tag) })),
      );
    }),
    route("POST", all, async (asked) => {
      const { name } = await bodyOf(creation, asked);
      const tag: Tag = { id: options.newId(), name, type: "knowledge" };
      tags.set(tag.id, tag);
      return jsonReply(200, { ...tag, binding_count: 0 });
    }),
    route("POST", `${all}/binding`, async (asked) => {
      const { tag_ids, target_id } = await bodyOf(binding, asked);
      const dataset = store.dataset(target_id);
      const bound = tagsOf(dataset);
      const added = tag_ids.map((id) => {
        const tag = tags.get(id.toLowerCase());
        if (!tag) throw notFound("Tag");
        return tag;
      });
      const fresh = added.filter((tag) => !bound.some(({ id }) => id === tag.id));
      store.writeDataset({ ...dataset, tags: [...bound, ...new Set(fresh)] });
      return noContent;
    }),
    route("GET", "/v1/datasets/:dataset/tags", ({ id }) => {
      const data = tagsOf(store.dataset(id("dataset"))).map((tag) => ({ id: tag.id, name: tag.name }));
      return jsonReply(200, { data, total: data.length });
    }),
  ];
}

/** The tags of a dataset. They are stored only in its row. */
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
