import { createHash } from "node:crypto";
import type { DocumentRef } from "../client/knowledge-api.js";
import type { PartFile } from "../dump/files/join-parts.js";
import { attachmentsIn } from "../rows/attachments.js";
import type { PlacedDocument } from "../run/discover/discovery.js";
import { readLines } from "../run/parts/read-lines.js";

/** A file that is attached to a chunk. */
export interface AttachmentRef {
  readonly id: string;
  /** The first chunk of the document that has it. */
  readonly chunkId: string;
}

/** A file to save. */
export interface WantedFile {
  readonly ref: DocumentRef;
  /** Null for the file that the document was made from. */
  readonly attachment: AttachmentRef | null;
  /** The name of the file in the work folder of the run. */
  readonly name: string;
}

/**
 * The files to save, in the order of the documents: the file of each that was uploaded, then those attached to its chunks, each
 * once. Attachments are found in the stored rows, which a run that is continued has, too. `parts` are those of each document.
 */
export async function wantedFiles(
  documents: readonly PlacedDocument[],
  uploads: readonly PlacedDocument[],
  parts: readonly (readonly PartFile[])[],
): Promise<readonly WantedFile[]> {
  const uploaded = new Set(uploads.map(({ name }) => name));
  const wanted: WantedFile[] = [];
  for (const [index, { ref, name }] of documents.entries()) {
    if (uploaded.has(name)) wanted.push({ ref, attachment: null, name });
    for (const attachment of await attachmentsOf(parts[index] ?? []))
      wanted.push({ ref, attachment, name: `${name}.${hashOf(attachment.id)}` });
  }
  return wanted;
}

async function attachmentsOf(parts: readonly PartFile[]): Promise<readonly AttachmentRef[]> {
  const rows = parts.find(({ kind, format }) => kind === "chunks" && format === "jsonl");
  const chunkIds = new Map<string, string>();
  if (!rows || rows.bytes === 0) return [];
  const { path, start = 0, bytes } = rows;
  for await (const line of readLines(path, { start, end: start + bytes - 1 })) {
    const { id: chunkId, attachments } = JSON.parse(line);
    for (const { id } of attachmentsIn(attachments)) if (!chunkIds.has(id)) chunkIds.set(id, String(chunkId));
  }
  return [...chunkIds].map(([id, chunkId]) => ({ id, chunkId }));
}

/** An id of any length and characters makes a file name this way. */
function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 32);
}
