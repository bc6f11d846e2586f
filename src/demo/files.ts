import { createHash, createHmac, hash, randomBytes } from "node:crypto";
import { isMapping } from "../schema.js";
import type { DocumentStore } from "./document-store.js";
import { type Details, type Knowledge, type Listed, notFound, Refusal } from "./knowledge.js";
import { type Asked, jsonReply, type Reply, type Route, route } from "./routes.js";
import type { Attachment, StoredFile } from "./rows.js";

/**
 * The routes for files: where a document's original is; the original itself, with a relative, signed address, as in a service
 * without its own address for files; and attachments of chunks, with a signed link. Files that were not uploaded are made up, and
 * the same on every read.
 */
export function fileRoutes(knowledge: Knowledge, store: DocumentStore): readonly Route[] {
  const document = "/v1/datasets/:dataset/documents/:document";
  const original = (reply: (details: Details, file: StoredFile, dataset: string) => Reply) => async (asked: Asked) => {
    const details = await knowledge.document(asked.id("dataset"), asked.id("document"));
    const file = store.upload(fileIdOf(details)) ?? sampleFile(details);
    if (!file) throw notFound("Document", "UploadFile not found.");
    return reply(details, file, asked.id("dataset"));
  };
  const links = ["file-preview", "image-preview"].map((kind): Route => {
    const link = route("GET", `/files/:file/${kind}`, ({ id, query }) => {
      const fileId = id("file");
      if (!isSigned(`/files/${fileId}/${kind}`, query, store.now()))
        throw new Refusal(403, "forbidden", "The signature of the link is wrong, or has expired.");
      const file = store.upload(fileId);
      return file ? fileReply(file) : sampleAttachment(store, fileId);
    });
    return { ...link, isOpen: true };
  });
  return [
    ...links,
    route("GET", `${document}/upload-file`, original(addressOf)),
    route(
      "GET",
      `${document}/original`,
      original((_details, file) => fileReply(file)),
    ),
  ];
}

function addressOf(document: Details, { facts }: StoredFile, dataset: string): Reply {
  const path = `/v1/datasets/${dataset}/documents/${document.id}/original`;
  const sign = createHash("sha256").update(path).digest("base64url").slice(0, 43);
  const url = `${path}?timestamp=1741267200&nonce=${"0".repeat(32)}&sign=${sign}=`;
  const { id, name, size, extension, ...others } = facts;
  return jsonReply(200, { id, name, size, extension, url, download_url: `${url}&as_attachment=true`, ...others });
}

function fileReply({ facts, bytes }: StoredFile): Reply {
  return { status: 200, type: facts.mime_type, content: bytes };
}

function fileIdOf({ id, data_source_info: source }: Details): unknown {
  const file = isMapping(source) ? source.upload_file : undefined;
  return isMapping(file) ? file.id : id;
}

/** Sample documents whose files have faults found in real services. */
const faults: ReadonlyMap<string, "none" | "empty" | "cut"> = new Map([
  ["Interrupted import.csv", "none"],
  ["Announcements.txt", "empty"],
  ["Handbook of 2019.docx", "cut"],
]);

/** The file of a document that came with the data; undefined if it has none. */
function sampleFile(document: Details): StoredFile | undefined {
  const text = sampleText(document);
  const fault = faults.get(String(document.name));
  if (fault === "none") return undefined;
  const bytes = fault === "empty" ? "" : text.slice(0, fault === "cut" ? text.length / 2 : text.length);
  return { facts: sampleFacts(String(fileIdOf(document)), document), bytes };
}

/** The facts of a sample document's file, from the document's row. */
export function sampleFacts(id: string, document: Details): StoredFile["facts"] {
  const name = String(document.name);
  const [created_by, created_at] = [String(document.created_by), Number(document.created_at)];
  const facts = { id, name, size: Buffer.byteLength(sampleText(document)), extension: name.split(".").at(-1) ?? "" };
  return { ...facts, mime_type: "text/plain", created_by, created_at };
}

/** A fixed text of some kilobytes. */
function sampleText({ id, name }: Details): string {
  const lines = 100 + (Number.parseInt(String(id).slice(0, 4), 16) % 400 || 0);
  return Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1} of the original file\n`).join("");
}

/** The file of an attachment that came with the data, with its reported size. Throws a 404 if no chunk has it. */
function sampleAttachment(store: DocumentStore, id: string): Reply {
  const found = findAttachment(store, id);
  if (!found) throw notFound("File");
  const piece = hash("sha256", id);
  const size = Number(found.size);
  const content = piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
  return { status: 200, type: "application/octet-stream", content };
}

/** The attachment with this id in any chunk; undefined if there is none. */
export function findAttachment(store: DocumentStore, id: string): Attachment | undefined {
  for (const { chunk } of store.chunks()) {
    const found = chunk.row.attachments?.find((attachment) => attachment.id === id);
    if (found) return found;
  }
  return undefined;
}

/** A link and the question mark after it, which the signature replaces; the rest of its query becomes plain text. */
const fileLink = /(\/files\/[0-9a-f-]+\/(?:file|image)-preview)\??/g;
/** Seconds that a link is valid. */
const lifetime = 300;
/** Links of this process are not valid in another. */
const secret = randomBytes(32);

/**
 * The chunk for an answer at `now`, in Unix seconds: links to files in `sign_content` and in attachments get a fresh signature
 * (`timestamp`, `nonce`, `sign`). The content itself, and chunks without links, stay unchanged.
 */
export function signChunk(chunk: Listed, now: number): Listed {
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

/** Inserts the signature right after the path, whatever follows: `…/image-previewtail` becomes `…/image-preview?timestamp=…=tail`. */
function signLinks(text: string, now: number): string {
  return text.replace(fileLink, (_link, path: string) => {
    const timestamp = String(Math.floor(now));
    const nonce = randomBytes(16).toString("hex");
    return `${path}?timestamp=${timestamp}&nonce=${nonce}&sign=${signOf(path, timestamp, nonce)}`;
  });
}

/** Whether the query of a link is a signature of its path, at most 300 s old. */
function isSigned(path: string, query: URLSearchParams, now: number): boolean {
  const [timestamp, nonce] = [query.get("timestamp") ?? "", query.get("nonce") ?? ""];
  return query.get("sign") === signOf(path, timestamp, nonce) && now - Number(timestamp) <= lifetime;
}

function signOf(path: string, timestamp: string, nonce: string): string {
  return `${createHmac("sha256", secret).update(`${path}|${timestamp}|${nonce}`).digest("base64url")}=`;
}
