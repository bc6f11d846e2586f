import { fileUrl } from "../client/download/file-answer.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { percentEncoded } from "../client/send.js";
import { SkipError } from "../errors.js";
import { attachmentsIn } from "../rows/attachments.js";
import type { RawRecord } from "../rows/row.js";
import type { AttachmentRef, WantedFile } from "./wanted-files.js";

/** A file as the service offers it. */
export interface OfferedFile {
  readonly id: string | null;
  readonly name: string | null;
  readonly mimeType: string | null;
  readonly size: number | null;
  /** Short-lived, perhaps relative to the service. */
  readonly address: string;
  /** Whether the address is `/download` of the service, which may answer a link. */
  readonly isOwn: boolean;
}

export type FileApi = Pick<KnowledgeApi, "uploadFile" | "chunk">;

/**
 * Asks the service for the address and the facts of a file. SkipError where it has none, or where the chunk has the attachment no
 * longer.
 */
export async function askForFile({ ref, attachment }: WantedFile, api: FileApi, baseUrl: string): Promise<OfferedFile> {
  return attachment ? askForAttachment(ref, attachment, api, baseUrl) : askForUpload(ref, api, baseUrl);
}

async function askForUpload(
  { datasetId, documentId }: DocumentRef,
  api: FileApi,
  baseUrl: string,
): Promise<OfferedFile> {
  const record = await api.uploadFile(datasetId, documentId);
  const own = `${baseUrl}/datasets/${percentEncoded(datasetId)}/documents/${percentEncoded(documentId)}/download`;
  const link = [record.download_url, record.url].find((each) => isLink(each, baseUrl));
  return { ...factsIn(record), address: textOr(link) ?? own, isOwn: link === undefined };
}

async function askForAttachment(
  ref: DocumentRef,
  { id, chunkId }: AttachmentRef,
  api: FileApi,
  baseUrl: string,
): Promise<OfferedFile> {
  const chunk = await api.chunk(ref, chunkId);
  const record = attachmentsIn(chunk.attachments).find((each) => each.id === id);
  if (!record) throw new SkipError("the chunk has it no longer");
  const address = textOr(record.source_url);
  if (address === null || !isLink(address, baseUrl)) throw new SkipError("the service gives no link to it");
  return { ...factsIn(record), address, isOwn: false };
}

function isLink(value: unknown, baseUrl: string): boolean {
  return typeof value === "string" && fileUrl(value, new URL(baseUrl)) !== undefined;
}

function factsIn({ id, name, mime_type, size }: RawRecord): Omit<OfferedFile, "address" | "isOwn"> {
  return {
    id: textOr(id),
    name: textOr(name),
    mimeType: textOr(mime_type),
    size: Number.isSafeInteger(size) && Number(size) >= 0 ? Number(size) : null,
  };
}

function textOr(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
