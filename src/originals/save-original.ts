import { rename } from "node:fs/promises";
import type { Download, IncomingFile } from "../client/download/open-downloads.js";
import { retrying } from "../client/retry.js";
import type { SavedOriginal } from "../dump/manifest/original.js";
import { GaveUpError, type RetryError, SkipError } from "../errors.js";
import type { OfferedFile } from "./ask-for-file.js";
import type { Reuse } from "./earlier-files.js";
import { judgeOriginal, type Received } from "./judge-original.js";
import { linkOrFile } from "./link-or-file.js";
import { receiveFile, tooLong } from "./receive-file.js";

export interface SaveOptions {
  readonly download: Download;
  /** Bytes of one file at the most. */
  readonly longest: number;
  /** Tries after the first. */
  readonly retries: number;
  readonly signal: AbortSignal;
  readonly onRetry: (error: RetryError, wait: number) => void;
  readonly reuse: Reuse;
}

/** The facts of a file on the disk, or of one that is missing. */
export type FileFacts = Omit<SavedOriginal, "dataset_id" | "document_id" | "attachment_id" | "chunk_id">;

/**
 * Saves a file at a path. It never fails for what the service does: that is a verdict. Every try asks for a new address, because
 * addresses are short-lived. A file that breaks off twice at the same place is kept as it is.
 */
export async function saveOriginal(
  ask: () => Promise<OfferedFile>,
  path: string,
  options: SaveOptions,
): Promise<FileFacts> {
  const { longest, retries, signal, onRetry } = options;
  let file: OfferedFile | undefined;
  let received: Received | undefined;
  const attempt = async () => {
    file = await ask();
    const same = await options.reuse(file, path);
    if (same) {
      received = { ...same, announced: null, brokeOff: null };
      return;
    }
    if ((file.size ?? 0) > longest) throw tooLong(longest);
    const before = received;
    const { failure, ...now } = await fetchFile(file, `${path}.new`, ask, options);
    if (!before || now.bytes >= before.bytes) {
      await rename(`${path}.new`, path);
      received = now;
    }
    const isSettled = now.bytes === file.size || (now.bytes > 0 && now.bytes === before?.bytes);
    if (failure && !isSettled) throw failure;
  };
  try {
    await retrying(attempt, { retries, signal, onRetry });
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    if (!received || !(error instanceof GaveUpError)) return missing(file, error.message);
  }
  return received ? saved(file, received) : missing(file, "it could not be fetched");
}

async function fetchFile(
  { address, isOwn }: OfferedFile,
  path: string,
  ask: () => Promise<OfferedFile>,
  { download, longest }: SaveOptions,
) {
  const receive = (file: IncomingFile) => receiveFile(file, path, longest);
  if (!isOwn)
    return download(address, receive).catch(async (error: unknown) => {
      if (!mayHaveExpired(error)) throw error;
      return download((await ask()).address, receive);
    });
  const found = await download(address, async (file) => {
    const answer = await linkOrFile(file);
    return typeof answer === "string" ? answer : receive(answer);
  });
  return typeof found === "string" ? download(found, receive) : found;
}

/** File stores answer 403 to a link that has expired, and the service 404: "File not found or signature is invalid". */
function mayHaveExpired(error: unknown): boolean {
  return error instanceof SkipError && (error.status === 403 || error.status === 404);
}

function saved(file: OfferedFile | undefined, received: Received): FileFacts {
  const { bytes, sha256 } = received;
  const judged = judgeOriginal(received, file?.size ?? null);
  return { ...factsOf(file), bytes, sha256: judged.verdict === "missing" ? null : sha256, ...judged };
}

function missing(file: OfferedFile | undefined, reason: string): FileFacts {
  const expected_bytes = file?.size ?? null;
  return { ...factsOf(file), bytes: 0, sha256: null, verdict: "missing", reason, expected_bytes };
}

function factsOf(file: OfferedFile | undefined): Pick<FileFacts, "name" | "mime_type" | "file_id"> {
  return { name: file?.name ?? null, mime_type: file?.mimeType ?? null, file_id: file?.id ?? null };
}
