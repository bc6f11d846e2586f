import { rowFrom, rowsFrom } from "../../demo/ask.js";
import type { EmptyService } from "./empty-service.js";

export const text = "# First piece. It goes on.\n\nSecond <|piece|>.";
export const economy = { indexing_technique: "economy" };
const segmentation = { separator: "\n\n", max_tokens: 500, chunk_overlap: 0 };
export const pre_processing_rules = [{ id: "remove_extra_spaces", enabled: true }];
export const custom = { mode: "custom", rules: { pre_processing_rules, segmentation } };

/** Creates a document in a new dataset, and returns its paths. */
export async function withDocument(place: EmptyService, fields: object = {}, dataset: object = economy) {
  const id = await place.newDataset(dataset);
  const body = { name: "Guide.txt", text, process_rule: custom, ...fields };
  const created = await place.send("POST", `/${id}/document/create-by-text`, body);
  const document = rowFrom(created.body.document ?? {});
  const path = `/${id}/documents/${document.id}`;
  const chunks = async () => rowsFrom((await place.send("GET", `${path}/segments`)).body.data);
  return { id, created, document, path, batch: created.body.batch, chunks };
}
