import { parseJson } from "../../read-body.js";
import { jsonReply, noContent, type Route, route } from "../../routes.js";
import { fileFrom } from "../file-from.js";
import { checkAction } from "./document-status.js";
import type { DocumentWrites } from "./document-writes.js";
import { checkDocumentIds, checkFileSettings, checkTextCreation } from "./requests.js";

/** The routes of the writes to documents. */
export function documentRoutes(documents: DocumentWrites): readonly Route[] {
  const dataset = "/v1/datasets/:dataset";
  const byText: Route["reply"] = async ({ id, body }) =>
    jsonReply(200, await documents.createFromText(id("dataset"), checkTextCreation(await body())));
  const byFile: Route["reply"] = async ({ id, form }) => {
    const fields = await form();
    const data = fields.get("data");
    const settings = checkFileSettings(typeof data === "string" ? parseJson(data) : {});
    return jsonReply(200, await documents.createFromFile(id("dataset"), await fileFrom(fields), settings));
  };
  return [
    route("POST", `${dataset}/document/create-by-text`, byText),
    route("POST", `${dataset}/document/create_by_text`, byText),
    route("POST", `${dataset}/document/create-by-file`, byFile),
    route("POST", `${dataset}/document/create_by_file`, byFile),
    route("DELETE", `${dataset}/documents/:document`, async ({ id }) => {
      await documents.remove(id("dataset"), id("document"));
      return noContent;
    }),
    route("PATCH", `${dataset}/documents/status/:action`, async ({ id, body }) => {
      await documents.setStatus(id("dataset"), checkDocumentIds(await body()), checkAction(id("action")));
      return jsonReply(200, { result: "success" });
    }),
  ];
}
