import { createHash } from "node:crypto";
import { isMapping } from "../schema.js";
import type { Details, Knowledge } from "./knowledge.js";
import { notFound } from "./refusal.js";
import { jsonReply, type Reply, type Route, route } from "./routes.js";
import type { FileStore, StoredFile } from "./store/file-store.js";

/** Sample documents whose files have the faults that files of real services have. */
const faults: ReadonlyMap<string, "none" | "empty" | "cut"> = new Map([
  ["Interrupted import.csv", "none"],
  ["Announcements.txt", "empty"],
  ["Handbook of 2019.docx", "cut"],
]);

/**
 * The routes of original files: where a file is, and the file itself, whose address is relative and signed, as that of a service
 * without an address of its own for files. Those of sample documents are made up, and the same at every read.
 */
export function originalRoutes(knowledge: Knowledge, files: FileStore): readonly Route[] {
  const document = "/v1/datasets/:dataset/documents/:document";
  return [
    route("GET", `${document}/upload-file`, async ({ id }) => {
      const details = await knowledge.document(id("dataset"), id("document"));
      return uploadFile(details, id("dataset"), files.find(fileIdOf(details)));
    }),
    route("GET", `${document}/original`, async ({ id }) => {
      const details = await knowledge.document(id("dataset"), id("document"));
      const file = files.find(fileIdOf(details));
      return file ? { status: 200, type: file.facts.mime_type, content: file.bytes } : sampleFile(details);
    }),
  ];
}

function uploadFile(document: Details, dataset: string, file: StoredFile | undefined): Reply {
  if (!file && faults.get(String(document.name)) === "none") throw notFound("Document", "UploadFile not found.");
  const path = `/v1/datasets/${dataset}/documents/${document.id}/original`;
  const url = `${path}?timestamp=1741267200&nonce=${"0".repeat(32)}&sign=${signOf(path)}=`;
  const { id, name, size, extension, ...others } = file?.facts ?? sampleFacts(document);
  return jsonReply(200, { id, name, size, extension, url, download_url: `${url}&as_attachment=true`, ...others });
}

function sampleFacts(document: Details): StoredFile["facts"] {
  const { name, created_by, created_at } = document;
  return {
    id: String(fileIdOf(document)),
    name: String(name),
    size: Buffer.byteLength(sampleText(document)),
    extension: String(name).split(".").at(-1) ?? "",
    mime_type: "text/plain",
    created_by: String(created_by),
    created_at: Number(created_at),
  };
}

function sampleFile(document: Details): Reply {
  const text = sampleText(document);
  const fault = faults.get(String(document.name));
  const shown = fault === "empty" ? "" : text.slice(0, fault === "cut" ? text.length / 2 : text.length);
  return { status: 200, type: "text/plain; charset=UTF-8", content: shown };
}

/** A stable text of some kilobytes. */
function sampleText({ id, name }: Details): string {
  const lines = 100 + (Number.parseInt(String(id).slice(0, 4), 16) % 400 || 0);
  return Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1} of the original file\n`).join("");
}

function fileIdOf({ id, data_source_info: source }: Details): unknown {
  const file = isMapping(source) ? source.upload_file : undefined;
  return isMapping(file) ? file.id : id;
}

function signOf(path: string): string {
  return createHash("sha256").update(path).digest("base64url").slice(0, 43);
}
