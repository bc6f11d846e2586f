import { createHash } from "node:crypto";
import { link, lstat, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { retrying } from "../client/retry.js";
import type { Original, SavedOriginal } from "../dump/manifest.js";
import { GaveUpError, RetryError, SkipError } from "../errors.js";
import { fingerprint } from "../files/join-segments.js";
import { runBefore } from "../store/folder/job-folders.js";
import type { Workspace } from "../store/lease.js";
import { countOf } from "../words.js";
import type { Download, IncomingFile } from "./download.js";
import type { OfferedFile, WantedFile } from "./file-routes.js";

export interface SaveOptions {
  readonly download: Download;
  /** Maximum bytes of one file. */
  readonly longest: number;
  /** Retries after the first try. */
  readonly retries: number;
  readonly signal: AbortSignal;
  readonly onRetry: (error: RetryError, wait: number) => void;
  readonly now: () => Date;
  readonly reuse: Reuse;
}

/** The facts of a saved or missing file. */
export type FileFacts = Omit<SavedOriginal, "dataset_id" | "document_id" | "attachment_id" | "chunk_id">;

/**
 * Saves a file at a path. Returns a failure of the service as the file's verdict instead of throwing it. Every try asks for a
 * new address, because addresses are short-lived. A file that breaks off twice at the same place is kept as it is. A file that
 * the service lacks is not retried. A 500 from the file's address is retried once: Dify sends that for a file that is gone
 * from its storage.
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
    const isFinal = latest.bytes === file.size || (latest.bytes > 0 && latest.bytes === before?.bytes);
    if (failure && !isFinal) throw failure;
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

/**
 * Milliseconds after getting a link in which it cannot have expired. Dify's links last 300 s unless FILES_ACCESS_TIMEOUT is
 * set.
 */
const sureLife = 60_000;

/**
 * Whether an error may mean that the link has expired: file stores then answer 403, and the service 404, "File not found or
 * signature is invalid".
 */
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

/**
 * Writes a file to disk piece by piece, readable by its owner only, and flushes it. If it breaks off, keeps what arrived. Throws
 * SkipError if it exceeds the limit; disk errors pass through.
 */
export async function receiveFile(
  { announced, pieces }: IncomingFile,
  path: string,
  longest: number,
): Promise<Received & { readonly failure: RetryError | null }> {
  await rm(path, { force: true }); // it may be hard-linked to a published run, which must not change
  const hash = createHash("sha256");
  let bytes = 0;
  let failure: RetryError | null = null;
  const file = await open(path, "wx", 0o600);
  try {
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > longest) throw tooLong(longest);
      hash.update(piece);
      await file.writeFile(piece);
    }
  } catch (error) {
    if (!(error instanceof RetryError)) throw error;
    failure = error;
  } finally {
    await file.sync();
    await file.close();
  }
  return { bytes, sha256: hash.digest("hex"), announced, brokeOff: failure?.message ?? null, failure };
}

/** The error for a file above the limit. */
function tooLong(longest: number): SkipError {
  return new SkipError(`it is longer than ${longest / 1_000_000} MB; service.max_original sets the limit`);
}

/** Maximum bytes of a link and the JSON around it. */
const longestLink = 65_536;

/**
 * Returns the link in an answer, or the file from its first byte: the service's own `/download` may return either. A link is
 * signed, so it is kept in memory and never written to disk.
 */
async function linkOrFile({ announced, pieces }: IncomingFile): Promise<string | IncomingFile> {
  const rest = pieces[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  for (let size = 0; size <= longestLink; ) {
    const next = await rest.next();
    if (next.done) return linkIn(Buffer.concat(head)) ?? { announced, pieces: joined(head, rest) };
    head.push(next.value);
    size += next.value.length;
  }
  return { announced, pieces: joined(head, rest) };
}

async function* joined(head: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function linkIn(bytes: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    const url = typeof value === "object" && value !== null && "url" in value ? value.url : undefined;
    return typeof url === "string" ? url : undefined;
  } catch {
    return undefined; // the file itself
  }
}

interface Received {
  readonly bytes: number;
  readonly sha256: string;
  /** The size according to Content-Length; null without it. */
  readonly announced: number | null;
  /** Why the download broke off; null if it ended normally. */
  readonly brokeOff: string | null;
}

type Judged = Pick<Original, "verdict" | "reason" | "expected_bytes">;

/**
 * The verdict on a received file. It is complete if it has as many bytes as the service reports; if unknown, as many as
 * Content-Length; if that is missing too, if the download ended normally.
 */
export function judgeOriginal({ bytes, announced, brokeOff }: Received, size: number | null): Judged {
  const expected_bytes = size ?? announced;
  const because = brokeOff === null ? "" : `: ${brokeOff}`;
  if (bytes === expected_bytes || (expected_bytes === null && brokeOff === null && bytes > 0))
    return { verdict: "complete", reason: null, expected_bytes };
  const said = expected_bytes === null ? "" : `, the service says ${expected_bytes}`;
  return {
    verdict: bytes === 0 ? "missing" : "wrong size",
    reason: `it has ${countOf(bytes, "byte")}${said}${because}`,
    expected_bytes,
  };
}

/** Puts the same file from an earlier run at the path; returns undefined if there is no undamaged one. */
type Reuse = (file: OfferedFile, path: string) => Promise<Pick<Received, "bytes" | "sha256"> | undefined>;

/**
 * Reuses files of the previous run. A file is hard-linked if the service still has the same upload with the same size, and its
 * bytes match the manifest.
 */
export async function earlierFiles(workspace: Workspace, job: string): Promise<(wanted: WantedFile) => Reuse> {
  const before = await runBefore(workspace.runs, workspace.runId, job).catch(() => undefined);
  const known = new Map(before?.originals?.map((original) => [keyOf(original), original]));
  return ({ ref, attachment }) =>
    async (file, path) => {
      const ids = { dataset_id: ref.datasetId, document_id: ref.documentId, attachment_id: attachment?.id ?? null };
      const original = known.get(keyOf(ids));
      if (!before || !original || !isSameUpload(original, file)) return undefined;
      return linkSound(join(workspace.runs, before.run_id), original, path).catch(() => undefined);
    };
}

type Ids = Pick<Original, "dataset_id" | "document_id" | "attachment_id">;

function keyOf({ dataset_id, document_id, attachment_id }: Ids): string {
  return JSON.stringify([dataset_id, document_id, attachment_id]);
}

function isSameUpload({ verdict, path, file_id, bytes }: Original, { id, size }: OfferedFile): boolean {
  return verdict === "complete" && path !== null && id !== null && file_id === id && bytes === size;
}

/**
 * Links a published file if it is undamaged. Links first and hashes the linked file, so that a change to the published path
 * cannot slip in between.
 */
async function linkSound(
  run: string,
  { path: published, sha256 }: Original,
  path: string,
): Promise<Awaited<ReturnType<Reuse>>> {
  if (published === null) return undefined;
  await rm(path, { force: true });
  await link(join(run, published), path);
  const facts = await lstat(path);
  const isPlain = facts.isFile() && (facts.mode & 0o777) === 0o600;
  const found = isPlain ? await fingerprint(path) : undefined;
  if (found?.sha256 === sha256) return found;
  await rm(path, { force: true });
  return undefined;
}
