import { createHash, createHmac, hash, randomBytes } from "node:crypto";
import { isMapping } from "../schema.js";
import type { DocumentStore } from "./document-store.js";
import { type Details, type Knowledge, type Listed, notFound, Refusal } from "./knowledge.js";
import { type Asked, jsonReply, type Reply, type Route, route } from "./routes.js";
import type { Attachment } from "./rows.js";

/** A file as the service reports it, and its bytes. `created_at` in Unix seconds. */
export interface StoredFile {
  readonly facts: {
    readonly id: string;
    readonly name: string;
    readonly size: number;
    readonly extension: string;
    readonly mime_type: string;
    readonly created_by: string;
    readonly created_at: number;
  };
  readonly bytes: Buffer | string;
}

/** Files that were uploaded, by id. */
export type Uploads = (id: unknown) => StoredFile | undefined;

export const noUploads: Uploads = () => undefined;

/**
 * The routes of files: where the original of a document is, and the file itself, whose address is relative and signed, as that of a
 * service without an address of its own for files; and the files of chunks, for holders of a signed link. Files that were not uploaded
 * are made up, and the same at every read.
 */
export function fileRoutes(knowledge: Knowledge, store: DocumentStore, uploads: Uploads): readonly Route[] {
  const document = "/v1/datasets/:dataset/documents/:document";
  const original = (reply: (details: Details, file: StoredFile, dataset: string) => Reply) => async (asked: Asked) => {
    const details = await knowledge.document(asked.id("dataset"), asked.id("document"));
    const file = uploads(fileIdOf(details)) ?? sampleFile(details);
    if (!file) throw notFound("Document", "UploadFile not found.");
    return reply(details, file, asked.id("dataset"));
  };
  const links = ["file-preview", "image-preview"].map((kind): Route => {
    const link = route("GET", `/files/:file/${kind}`, ({ id, query }) => {
      const fileId = id("file");
      if (!isSigned(`/files/${fileId}/${kind}`, query, store.now()))
        throw new Refusal(403, "forbidden", "The signature of the link is wrong, or has expired.");
      const file = uploads(fileId);
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

/** Sample documents whose files have the faults that files of real services have. */
const faults: ReadonlyMap<string, "none" | "empty" | "cut"> = new Map([
  ["Interrupted import.csv", "none"],
  ["Announcements.txt", "empty"],
  ["Handbook of 2019.docx", "cut"],
]);

/** The file of a document that came with the data; undefined for one without a file. */
function sampleFile(document: Details): StoredFile | undefined {
  const text = sampleText(document);
  const fault = faults.get(String(document.name));
  if (fault === "none") return undefined;
  const bytes = fault === "empty" ? "" : text.slice(0, fault === "cut" ? text.length / 2 : text.length);
  return { facts: sampleFacts(String(fileIdOf(document)), document), bytes };
}

/** The facts of the file of a sample document, by the row of that. */
export function sampleFacts(id: string, document: Details): StoredFile["facts"] {
  const name = String(document.name);
  const [created_by, created_at] = [String(document.created_by), Number(document.created_at)];
  const facts = { id, name, size: Buffer.byteLength(sampleText(document)), extension: name.split(".").at(-1) ?? "" };
  return { ...facts, mime_type: "text/plain", created_by, created_at };
}

/** A stable text of some kilobytes. */
function sampleText({ id, name }: Details): string {
  const lines = 100 + (Number.parseInt(String(id).slice(0, 4), 16) % 400 || 0);
  return Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1} of the original file\n`).join("");
}

/** The file of an attachment that came with the data, of as many bytes as it says. Throws a 404 for one that no chunk has. */
function sampleAttachment(store: DocumentStore, id: string): Reply {
  const found = findAttachment(store, id);
  if (!found) throw notFound("File");
  const piece = hash("sha256", id);
  const size = Number(found.size);
  const content = piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
  return { status: 200, type: "application/octet-stream", content };
}

/** The attachment with an id, of any chunk; undefined if none has it. */
export function findAttachment(store: DocumentStore, id: string): Attachment | undefined {
  for (const { chunk } of store.chunks()) {
    const found = chunk.row.attachments?.find((attachment) => attachment.id === id);
    if (found) return found;
  }
  return undefined;
}

/** A link, and the question mark behind it, whose place the signature takes; the rest of its query becomes plain text. */
const fileLink = /(\/files\/[0-9a-f-]+\/(?:file|image)-preview)\??/g;
/** Seconds for which a link opens its file. */
const lifetime = 300;
/** A link of this process opens no file of another. */
const secret = randomBytes(32);

/**
 * The chunk as it is answered at `now`, in Unix seconds: every link to a file in `sign_content` and in its attachments carries a fresh
 * signature (`timestamp`, `nonce`, `sign`). The content itself and a chunk without links stay as they are.
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

/** Right behind the path, whatever follows: `…/image-previewtail` becomes `…/image-preview?timestamp=…=tail`. */
function signLinks(text: string, now: number): string {
  return text.replace(fileLink, (_link, path: string) => {
    const timestamp = String(Math.floor(now));
    const nonce = randomBytes(16).toString("hex");
    return `${path}?timestamp=${timestamp}&nonce=${nonce}&sign=${signOf(path, timestamp, nonce)}`;
  });
}

/** Whether the query of a link is a signature of its path, not older than 300 s. */
function isSigned(path: string, query: URLSearchParams, now: number): boolean {
  const [timestamp, nonce] = [query.get("timestamp") ?? "", query.get("nonce") ?? ""];
  return query.get("sign") === signOf(path, timestamp, nonce) && now - Number(timestamp) <= lifetime;
}

function signOf(path: string, timestamp: string, nonce: string): string {
  return `${createHmac("sha256", secret).update(`${path}|${timestamp}|${nonce}`).digest("base64url")}=`;
}
