import { createHash, createHmac, randomBytes } from "node:crypto";
import { isMapping } from "../schema.js";
import { type Attachment, type Details, type Knowledge, type Listed, notFound } from "./knowledge.js";
import { jsonReply, type Reply, type Route, route } from "./routes.js";
import { sampleFacts, sampleText } from "./sample/outline.js";
import type { DocumentStore } from "./store/document-store.js";
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
  const url = `${path}?timestamp=1741267200&nonce=${"0".repeat(32)}&sign=${signOfOriginal(path)}=`;
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

function signOfOriginal(path: string): string {
  return createHash("sha256").update(path).digest("base64url").slice(0, 43);
}

/** A link, and the question mark behind it, whose place the signature takes; the rest of its query becomes plain text. */
const fileLink = /(\/files\/[0-9a-f-]+\/(?:file|image)-preview)\??/g;
/** Seconds for which a link opens its file. */
const lifetime = 300;
/** A link of this process opens no file of another. */
const secret = randomBytes(32);

/**
 * The chunk as it is answered at `now`: every link to a file in `sign_content` and in its attachments carries a fresh
 * signature (`timestamp` in Unix seconds, `nonce`, `sign`). The content itself and a chunk without links stay as they are.
 */
export function signChunk(chunk: Listed, now: Date): Listed {
  const { sign_content, attachments } = chunk;
  const hasLink = typeof sign_content === "string" && sign_content.includes("/files/");
  const files = Array.isArray(attachments) ? attachments : [];
  if (!hasLink && files.length === 0) return chunk;
  return {
    ...chunk,
    ...(hasLink && { sign_content: signLinks(sign_content, now) }),
    ...(files.length > 0 && {
      attachments: files.map((file: Attachment) => ({ ...file, source_url: signLinks(file.source_url, now) })),
    }),
  };
}

/** Right behind the path, whatever follows: `…/image-previewtail` becomes `…/image-preview?timestamp=…=tail`. */
function signLinks(text: string, now: Date): string {
  return text.replace(fileLink, (_link, path: string) => `${path}?${signature(path, now)}`);
}

/** Whether the query of a link is a signature of its path, not older than 300 s. */
export function isSigned(path: string, query: URLSearchParams, now: Date): boolean {
  const [timestamp, nonce] = [query.get("timestamp") ?? "", query.get("nonce") ?? ""];
  const age = now.getTime() / 1000 - Number(timestamp);
  return query.get("sign") === signOf(path, timestamp, nonce) && age <= lifetime;
}

function signature(path: string, now: Date): string {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const nonce = randomBytes(16).toString("hex");
  return `timestamp=${timestamp}&nonce=${nonce}&sign=${signOf(path, timestamp, nonce)}`;
}

function signOf(path: string, timestamp: string, nonce: string): string {
  return `${createHmac("sha256", secret).update(`${path}|${timestamp}|${nonce}`).digest("base64url")}=`;
}

/**
 * The file of an attachment that came with the data. It is made up: as many bytes as the attachment says, the same at every read. Throws
 * a 404 for one that no chunk has.
 */
export function sampleAttachment(store: DocumentStore, id: string): Reply {
  const found = findAttachment(store, id);
  if (!found) throw notFound("File");
  return { status: 200, type: "application/octet-stream", content: madeUpBytes(id, Number(found.size)) };
}

/** The attachment with an id, of whatever chunk; undefined where none has it. */
export function findAttachment(store: DocumentStore, id: string): Attachment | undefined {
  const chunks = store
    .datasets()
    .flatMap((dataset) => store.documents(dataset.id))
    .flatMap((document) => document.chunks);
  return chunks.flatMap(({ row }) => row.attachments ?? []).find((attachment) => attachment.id === id);
}

function madeUpBytes(id: string, size: number): string {
  const piece = createHash("sha256").update(id).digest("hex");
  return piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
}
