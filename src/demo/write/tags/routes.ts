import { jsonReply, noContent, type Route, route } from "../../routes.js";
import { checkBinding, checkTagName } from "./requests.js";
import type { TagWrites } from "./tag-writes.js";

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
