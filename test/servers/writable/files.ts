import { createHash, hash } from "node:crypto";
import { type Details, type Knowledge, notFound, Refusal } from "../../../src/demo/knowledge.js";
import { type Asked, jsonReply, type Reply, type Route, route } from "../../../src/demo/routes.js";
import type { Attachment } from "../../../src/demo/rows.js";
import { sampleText } from "../../../src/demo/sample/sample-knowledge.js";
import { isMapping } from "../../../src/schema.js";
import { signOf } from "./sign-links.js";
import type { StoredFile } from "./uploads.js";
import type { WritableStore } from "./writable-store.js";

/**
 * The routes for files: where a document's original is; the original itself, with a relative, signed address, as in a service
 * without its own address for files; and attachments of chunks, with a signed link. Files that were not uploaded are made up, and
 * the same on every read.
 */
export function fileRoutes(knowledge: Knowledge, store: WritableStore): readonly Route[] {
  const document = "/v1/datasets/:dataset/documents/:document";
  const original = (reply: (details: Details, file: StoredFile, dataset: string) => Reply) => async (asked: Asked) => {
    const details = await knowledge.document(asked.id("dataset"), asked.id("document"));
    const file = store.files.find(fileIdOf(details)) ?? sampleFile(details);
    if (!file) throw notFound("Document", "UploadFile not found.");
    return reply(details, file, asked.id("dataset"));
  };
  const links = ["file-preview", "image-preview"].map((kind): Route => {
    const link = route("GET", `/files/:file/${kind}`, ({ id, query }) => {
      const fileId = id("file");
      if (!isSigned(`/files/${fileId}/${kind}`, query, store.now()))
        throw new Refusal(403, "forbidden", "The signature of the link is wrong, or has expired.");
      const file = store.files.find(fileId);
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
  const name = String(document.name);
  const text = sampleText(String(document.id), name);
  const fault = faults.get(name);
  if (fault === "none") return undefined;
  const bytes = fault === "empty" ? "" : text.slice(0, fault === "cut" ? text.length / 2 : text.length);
  const facts = {
    ...{ id: String(fileIdOf(document)), name, size: Buffer.byteLength(text), extension: name.split(".").at(-1) ?? "" },
    ...{ mime_type: "text/plain", created_by: String(document.created_by), created_at: Number(document.created_at) },
  };
  return { facts, bytes };
}

/** The file of an attachment that came with the data, with its reported size. Throws a 404 if no chunk has it. */
function sampleAttachment(store: WritableStore, id: string): Reply {
  const found = findAttachment(store, id);
  if (!found) throw notFound("File");
  const piece = hash("sha256", id);
  const size = Number(found.size);
  const content = piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
  return { status: 200, type: "application/octet-stream", content };
}

/** The attachment with this id in any chunk; undefined if there is none. */
export function findAttachment(store: WritableStore, id: string): Attachment | undefined {
  const chunks = store.datasets().flatMap((dataset) => store.documents(dataset.id).flatMap(({ chunks }) => chunks));
  return chunks.flatMap(({ row }) => row.attachments ?? []).find((attachment) => attachment.id === id);
}

/** Seconds that a link is valid. */
const lifetime = 300;

/** Whether the query of a link is a signature of its path, at most 300 s old. */
function isSigned(path: string, query: URLSearchParams, now: number): boolean {
  const [timestamp, nonce] = [query.get("timestamp") ?? "", query.get("nonce") ?? ""];
  return query.get("sign") === signOf(path, timestamp, nonce) && now - Number(timestamp) <= lifetime;
}
