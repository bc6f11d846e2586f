import { createHash } from "node:crypto";
import type { Attachment } from "./knowledge.js";
import { notFound } from "./refusal.js";
import type { Reply } from "./routes.js";
import type { DocumentStore } from "./store/document-store.js";

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
