import { createHash } from "node:crypto";
import type { Details, Knowledge } from "./knowledge.js";
import { notFound } from "./refusal.js";
import { jsonReply, type Reply, type Route, routePath } from "./routes.js";

/** Sample documents whose files have the faults that files of real services have. */
const faults: ReadonlyMap<string, "none" | "empty" | "cut"> = new Map([
  ["Interrupted import.csv", "none"],
  ["Announcements.txt", "empty"],
  ["Handbook of 2019.docx", "cut"],
]);

/**
 * The routes of tags and of original files: where a file is, and the file itself, whose address is relative and signed, as
 * that of a service without an address of its own for files. The files are made up, and the same at every read.
 */
export function originalRoutes(knowledge: Knowledge): readonly Route[] {
  const get = (path: string, reply: Route["reply"]): Route => ({ method: "GET", path: routePath(path), reply });
  return [
    get("/v1/datasets/:dataset/tags", async ({ id }) => {
      const { tags } = await knowledge.dataset(id("dataset"));
      const data = Array.isArray(tags) ? tags : [];
      return jsonReply(200, { data, total: data.length });
    }),
    get("/v1/datasets/:dataset/documents/:document/upload-file", async ({ id }) =>
      uploadFile(await knowledge.document(id("dataset"), id("document")), id("dataset")),
    ),
    get("/v1/datasets/:dataset/documents/:document/original", async ({ id }) =>
      originalFile(await knowledge.document(id("dataset"), id("document"))),
    ),
  ];
}

function uploadFile(document: Details, dataset: string): Reply {
  const { name, created_by, created_at } = document;
  if (faults.get(String(name)) === "none") throw notFound("Document", "UploadFile not found.");
  const text = originalText(document);
  const id = idOf(document);
  const path = `/v1/datasets/${dataset}/documents/${document.id}/original`;
  const link = `${path}?timestamp=1741267200&nonce=${"0".repeat(32)}&sign=${signOf(path)}=`;
  const extension = String(name).split(".").at(-1) ?? "";
  const size = Buffer.byteLength(text);
  const facts = { id, name, size, extension, url: link, download_url: `${link}&as_attachment=true` };
  return jsonReply(200, { ...facts, mime_type: "text/plain", created_by, created_at });
}

function originalFile(document: Details): Reply {
  const text = originalText(document);
  const fault = faults.get(String(document.name));
  const shown = fault === "empty" ? "" : text.slice(0, fault === "cut" ? text.length / 2 : text.length);
  return { status: 200, type: "text/plain; charset=UTF-8", text: shown };
}

/** A stable text of some kilobytes. */
function originalText({ id, name }: Details): string {
  const lines = 100 + (Number.parseInt(String(id).slice(0, 4), 16) % 400 || 0);
  return Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1} of the original file\n`).join("");
}

function idOf({ id, data_source_info: source }: Details): unknown {
  const known = typeof source === "object" && source !== null && "upload_file_id" in source;
  return known ? source.upload_file_id : id;
}

function signOf(path: string): string {
  return createHash("sha256").update(path).digest("base64url").slice(0, 43);
}
