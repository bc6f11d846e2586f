import { createHash } from "node:crypto";
import { isMapping } from "../schema.js";
import type { Details, Knowledge } from "./knowledge.js";
import { notFound } from "./refusal.js";
import { jsonReply, type Reply, type Route, route } from "./routes.js";
import { sampleFacts, sampleText } from "./sample/sample-file.js";
import type { FileStore, StoredFile } from "./store/file-store.js";

/** Sample documents whose files have the faults that files of real services have. */
const faults: ReadonlyMap<string, "none" | "empty" | "cut"> = new Map([
  ["Interrupted import.csv", "none"],
  ["Announcements.txt", "empty"],
  ["Handbook of 2019.docx", "cut"],
]);

/** The route that says where an original is: that of Dify until 1.8, from 1.13.1 on, or between the two. */
export type OriginalsRelease = "upload-file" | "download" | "none";

/**
 * The routes of original files: where a file is, and the file itself, whose address is relative and signed, as that of a service
 * without an address of its own for files. Those of sample documents are made up, and the same at every read.
 */
export function originalRoutes(knowledge: Knowledge, files: FileStore, release: OriginalsRelease): readonly Route[] {
  const document = "/v1/datasets/:dataset/documents/:document";
  const address = route("GET", `${document}/${release}`, async ({ id }) => {
    const details = await knowledge.document(id("dataset"), id("document"));
    const upload = uploadFile(details, id("dataset"), files.find(fileIdOf(details)));
    return jsonReply(200, release === "download" ? { url: upload.download_url } : upload);
  });
  return [
    ...(release === "none" ? [] : [address]),
    route("GET", `${document}/original`, async ({ id }) => {
      const details = await knowledge.document(id("dataset"), id("document"));
      const file = files.find(fileIdOf(details));
      return file ? { status: 200, type: file.facts.mime_type, content: file.bytes } : sampleFile(details);
    }),
  ];
}

function uploadFile(document: Details, dataset: string, file: StoredFile | undefined) {
  if (!file && faults.get(String(document.name)) === "none") throw notFound("Document", "UploadFile not found.");
  const path = `/v1/datasets/${dataset}/documents/${document.id}/original`;
  const url = `${path}?timestamp=1741267200&nonce=${"0".repeat(32)}&sign=${signOf(path)}=`;
  const { id, name, size, extension, ...others } = file?.facts ?? factsOf(document);
  return { id, name, size, extension, url, download_url: `${url}&as_attachment=true`, ...others };
}

function factsOf(document: Details): StoredFile["facts"] {
  const { id, name, created_by, created_at } = document;
  const file = { fileId: String(fileIdOf(document)), by: String(created_by), createdAt: Number(created_at) };
  return sampleFacts({ id: String(id), name: String(name), ...file });
}

function sampleFile(document: Details): Reply {
  const name = String(document.name);
  const text = sampleText(String(document.id), name);
  const fault = faults.get(name);
  const shown = fault === "empty" ? "" : text.slice(0, fault === "cut" ? text.length / 2 : text.length);
  return { status: 200, type: "text/plain; charset=UTF-8", content: shown };
}

function fileIdOf({ id, data_source_info: source }: Details): unknown {
  const file = isMapping(source) ? source.upload_file : undefined;
  return isMapping(file) ? file.id : id;
}

function signOf(path: string): string {
  return createHash("sha256").update(path).digest("base64url").slice(0, 43);
}
