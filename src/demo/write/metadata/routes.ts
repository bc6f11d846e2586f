import { invalidParam } from "../../refusal.js";
import { jsonReply, type Route, route } from "../../routes.js";
import type { MetadataWrites } from "./metadata-writes.js";
import { checkField, checkOperations } from "./requests.js";

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
