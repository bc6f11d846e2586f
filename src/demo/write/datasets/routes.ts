import { jsonReply, noContent, type Route, route } from "../../routes.js";
import type { DatasetWrites } from "./dataset-writes.js";
import { checkChange, checkCreation } from "./requests.js";

/** The routes of the writes to datasets. */
export function datasetRoutes(datasets: DatasetWrites): readonly Route[] {
  const dataset = "/v1/datasets/:dataset";
  return [
    route("POST", "/v1/datasets", async ({ body }) =>
      jsonReply(200, await datasets.create(checkCreation(await body()))),
    ),
    route("PATCH", dataset, async ({ id, body }) =>
      jsonReply(200, await datasets.change(id("dataset"), checkChange(await body()))),
    ),
    route("DELETE", dataset, async ({ id }) => {
      await datasets.remove(id("dataset"));
      return noContent;
    }),
  ];
}
