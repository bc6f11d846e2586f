import { rename } from "node:fs/promises";
import type { Download, IncomingFile } from "../client/download/open-downloads.js";
import { retrying } from "../client/retry.js";
import type { SavedOriginal } from "../dump/manifest/original.js";
import { GaveUpError, RetryError, SkipError } from "../errors.js";
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
  readonly now: () => Date;
  readonly reuse: Reuse;
}

/** The facts of a file on the disk, or of one that is missing. */
export type FileFacts = Omit<SavedOriginal, "dataset_id" | "document_id" | "attachment_id" | "chunk_id">;

/**
 * Saves a file at a path. It never fails for what the service does: that is a verdict. Every try asks for a new address, because
 * addresses are short-lived. A file that breaks off twice at the same place is kept as it is. One that the service lacks is not tried
 * again, and one whose address answers 500 is tried once more: Dify answers that for a file that is gone from its storage.
 */
export async function saveOriginal(
  ask: () => Promise<OfferedFile>,
  path: string,
  options: SaveOptions,
): Promise<FileFacts> {
  const { longest, retries, signal, onRetry, now } = options;
  let file: OfferedFile | undefined;
  let received: Received | undefined;
  let tries = 0;
  let had500 = false;
  const failed = (error: unknown): never => {
    const is500 = error instanceof RetryError && error.status === 500;
    if (is500 && had500) throw new GaveUpError(error, tries);
    had500 ||= is500;
    throw error;
  };
  const attempt = async () => {
    tries++;
    file = await ask();
    const offeredAt = now();
    const same = await options.reuse(file, path);
    if (same) {
      received = { ...same, announced: null, brokeOff: null };
      return;
    }
    if ((file.size ?? 0) > longest) throw tooLong(longest);
    const before = received;
    const freshAddress = async () => (now().getTime() - offeredAt.getTime() > sureLife ? (await ask()).address : null);
    const { failure, ...latest } = await fetchFile(file, `${path}.new`, freshAddress, options).catch(failed);
    if (!before || latest.bytes >= before.bytes) {
      await rename(`${path}.new`, path);
      received = latest;
    }
    const isSettled = latest.bytes === file.size || (latest.bytes > 0 && latest.bytes === before?.bytes);
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
  freshAddress: () => Promise<string | null>,
  { download, longest }: SaveOptions,
) {
  const receive = (file: IncomingFile) => receiveFile(file, path, longest);
  if (!isOwn)
    return download(address, receive).catch(async (error: unknown) => {
      const fresh = mayHaveExpired(error) ? await freshAddress() : null;
      if (fresh === null) throw error;
      return download(fresh, receive);
    });
  const found = await download(address, async (file) => {
    const answer = await linkOrFile(file);
    return typeof answer === "string" ? answer : receive(answer);
  });
  return typeof found === "string" ? download(found, receive) : found;
}

/** Milliseconds in which no link expires: those of Dify are good for 300 s, unless FILES_ACCESS_TIMEOUT says otherwise. */
const sureLife = 60_000;

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
