import { rename } from "node:fs/promises";
import { fileUrl } from "../client/download/file-answer.js";
import type { Download, IncomingFile } from "../client/download/open-downloads.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import type { Client } from "../client/open-client.js";
import { retrying } from "../client/retry.js";
import { percentEncoded } from "../client/send.js";
import type { Original } from "../dump/manifest/original.js";
import { GaveUpError, type RetryError, SkipError } from "../errors.js";
import type { RawRecord } from "../rows/row.js";
import { judgeOriginal, type Received } from "./judge-original.js";
import { linkOrFile } from "./link-or-file.js";
import { receiveFile, tooLong } from "./receive-file.js";

export interface SaveOptions {
  readonly api: Pick<KnowledgeApi, "uploadFile"> & Pick<Client, "signal">;
  readonly download: Download;
  readonly baseUrl: string;
  /** Bytes of one file at the most. */
  readonly longest: number;
  /** Tries after the first. */
  readonly retries: number;
  readonly onRetry: (error: RetryError, wait: number) => void;
  /** Puts the same file of an earlier run at the path; undefined where there is none that is sound. */
  readonly reuse: (file: UploadedFile, path: string) => Promise<Pick<Received, "bytes" | "sha256"> | undefined>;
}

/** The facts that the service tells of an original. */
export interface UploadedFile {
  readonly id: string | null;
  readonly name: string | null;
  readonly mimeType: string | null;
  readonly size: number | null;
  readonly address: string;
  /** Whether the address is `/download` of the service, which may answer a link. */
  readonly isOwn: boolean;
}

/** A file on the disk with its facts, not yet placed in a run folder. */
export type SavedOriginal = Omit<Original, "path" | "dataset_id" | "document_id">;

/**
 * Saves the original of a document at a path. It never fails for what the service does: that is a verdict. Every try asks for
 * a new address, because addresses are short-lived. A file that breaks off twice at the same place is kept as it is.
 */
export async function saveOriginal(ref: DocumentRef, path: string, options: SaveOptions): Promise<SavedOriginal> {
  const { api, longest, retries, onRetry } = options;
  let file: UploadedFile | undefined;
  let received: Received | undefined;
  const attempt = async () => {
    file = uploadedFile(await api.uploadFile(ref.datasetId, ref.documentId), ref, options.baseUrl);
    const same = await options.reuse(file, path);
    if (same) {
      received = { ...same, announced: null, brokeOff: null };
      return;
    }
    if ((file.size ?? 0) > longest) throw tooLong(longest);
    const before = received;
    const { failure, ...now } = await fetchFile(file, `${path}.new`, options);
    if (!before || now.bytes >= before.bytes) {
      await rename(`${path}.new`, path);
      received = now;
    }
    const isSettled = now.bytes === file.size || (now.bytes > 0 && now.bytes === before?.bytes);
    if (failure && !isSettled) throw failure;
  };
  try {
    await retrying(attempt, { retries, signal: api.signal, onRetry });
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    if (!received || !(error instanceof GaveUpError)) return missing(file, error.message);
  }
  return received ? saved(file, received) : missing(file, "it could not be fetched");
}

async function fetchFile({ address, isOwn }: UploadedFile, path: string, { download, longest }: SaveOptions) {
  const receive = (file: IncomingFile) => receiveFile(file, path, longest);
  if (!isOwn) return download(address, receive);
  const found = await download(address, async (file) => {
    const answer = await linkOrFile(file);
    return typeof answer === "string" ? answer : receive(answer);
  });
  return typeof found === "string" ? download(found, receive) : found;
}

function uploadedFile(record: RawRecord, { datasetId, documentId }: DocumentRef, baseUrl: string): UploadedFile {
  const base = new URL(baseUrl);
  const own = `${baseUrl}/datasets/${percentEncoded(datasetId)}/documents/${percentEncoded(documentId)}/download`;
  const links = [record.download_url, record.url].filter((each) => typeof each === "string");
  const link = links.find((each) => fileUrl(each, base));
  return {
    id: textOr(record.id),
    name: textOr(record.name),
    mimeType: textOr(record.mime_type),
    size: Number.isSafeInteger(record.size) && Number(record.size) >= 0 ? Number(record.size) : null,
    address: link ?? own,
    isOwn: link === undefined,
  };
}

function textOr(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function saved(file: UploadedFile | undefined, received: Received): SavedOriginal {
  const { bytes, sha256 } = received;
  const judged = judgeOriginal(received, file?.size ?? null);
  return { ...factsOf(file), bytes, sha256: judged.verdict === "missing" ? null : sha256, ...judged };
}

function missing(file: UploadedFile | undefined, reason: string): SavedOriginal {
  const expected_bytes = file?.size ?? null;
  return { ...factsOf(file), bytes: 0, sha256: null, verdict: "missing", reason, expected_bytes };
}

function factsOf(file: UploadedFile | undefined): Pick<Original, "name" | "mime_type" | "file_id"> {
  return { name: file?.name ?? null, mime_type: file?.mimeType ?? null, file_id: file?.id ?? null };
}
