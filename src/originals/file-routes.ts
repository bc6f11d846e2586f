import { createHash } from "node:crypto";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { percentEncoded } from "../client/retry.js";
import type { DocumentToRead } from "../crawl/discovery.js";
import { GaveUpError, SkipError, UnknownRouteError } from "../errors.js";
import type { SegmentFile } from "../files/join-segments.js";
import { attachmentsIn, documentKey, type RawRecord, type Row } from "../rows/row.js";
import { isMapping } from "../schema.js";
import { readLines } from "../segments/segment.js";
import { fileUrl } from "./download.js";

/** A file as the service offers it. */
export interface OfferedFile {
  readonly id: string | null;
  readonly name: string | null;
  readonly mimeType: string | null;
  readonly size: number | null;
  /** The URL of the file. It is valid for a short time, and may be relative to the service. */
  readonly address: string;
  /** Whether the address is the service's own `/download`, which may return a link. */
  readonly isOwn: boolean;
}

export type FileApi = Pick<KnowledgeApi, Route | "document" | "chunk">;

export interface AskOptions {
  readonly api: FileApi;
  readonly baseUrl: string;
  /** Rows of `document_details` that the run has read, so that they are not requested again. */
  readonly details: readonly Row[] | undefined;
}

/** Why an original is missing if the release has no route for it. */
export const noOriginals = "this release does not provide originals";

/**
 * Returns a function that requests a file's address and facts again whenever a new address is needed. It rejects with SkipError if the
 * service has no such file, or if the chunk no longer has the attachment. The route that the release has is found
 * once for all files of a run.
 */
export function askerOfFiles(options: AskOptions): (wanted: WantedFile) => () => Promise<OfferedFile> {
  const { api, baseUrl } = options;
  const routes = new OriginalRoutes(api);
  const factsOf = factsOfDetails(options);
  return ({ ref, attachment }) => {
    if (attachment) return () => askForAttachment(ref, attachment, api, baseUrl);
    let facts: Promise<RawRecord> | undefined;
    return async () => {
      const { route, record } = await routes.ask(ref);
      if (route === "uploadFile") return uploadIn(record, ref, baseUrl);
      const address = linkIn(record.url, baseUrl);
      facts ??= factsOf(ref);
      return { ...factsIn(await facts), address, isOwn: false };
    };
  };
}

/**
 * Counts the requests that a run sends for originals, if every document has one. Asks for the first document's file to find
 * the route. If the release has no route, counts only the requests that showed this. `detailed`: documents whose details the
 * run reads anyway.
 */
export async function countOriginalRequests(
  api: FileApi,
  refs: readonly DocumentRef[],
  detailed: number,
): Promise<{ readonly requests: number; readonly hasRoute: boolean }> {
  const [first] = refs;
  if (!first) return { requests: 0, hasRoute: true };
  const routes = new OriginalRoutes(api);
  await routes.ask(first).catch((error: unknown) => {
    if (!(error instanceof SkipError)) throw error;
  });
  const { lacking, hasRoute } = routes;
  const details = lacking === 0 ? 0 : Math.max(0, refs.length - detailed);
  const each = 2; // its address and the file
  return { requests: lacking + (hasRoute ? each * refs.length + details : 0), hasRoute };
}

/** Requests for a file attached to a chunk: its address, and the file. */
export const attachmentRequests = 2;

/** The routes for originals, in the order in which they are tried. */
const allRoutes = ["uploadFile", "downloadLink"] as const;
type Route = (typeof allRoutes)[number];

/**
 * Finds the route of the release for originals. The first document finds it for all; the others wait for it. A temporary
 * error, such as a 500, decides nothing, and the next document tries.
 */
class OriginalRoutes {
  readonly #api: FileApi;
  /** How many routes, from the first, the service turned out to lack. */
  #lacking = 0;
  #isDecided = false;
  #deciding: Promise<void> | undefined;

  constructor(api: FileApi) {
    this.#api = api;
  }

  get lacking(): number {
    return this.#lacking;
  }

  get hasRoute(): boolean {
    return this.#lacking < allRoutes.length;
  }

  /** Asks for the file of a document. Throws SkipError if there is no route or no file. */
  async ask(ref: DocumentRef): Promise<{ readonly route: Route; readonly record: RawRecord }> {
    while (this.#deciding) await this.#deciding;
    const answer = this.#askFirst(ref);
    if (this.#isDecided || !this.hasRoute) return answer;
    const decided = () => {
      this.#deciding = undefined;
    };
    this.#deciding = answer.then(decided, decided);
    return answer;
  }

  async #askFirst(ref: DocumentRef): Promise<{ readonly route: Route; readonly record: RawRecord }> {
    const route = allRoutes[this.#lacking];
    if (route === undefined) throw new SkipError(noOriginals);
    try {
      const record = await this.#api[route](ref.datasetId, ref.documentId);
      this.#isDecided = true;
      return { route, record };
    } catch (error) {
      if (!this.#isDecided && error instanceof UnknownRouteError) {
        this.#lacking++;
        return this.#askFirst(ref);
      }
      this.#isDecided ||= error instanceof SkipError && !(error instanceof GaveUpError);
      throw error;
    }
  }
}

/** Returns a function that gets the facts of a document's file from its details. Without details, the file is saved anyway. */
function factsOfDetails({ api, details }: AskOptions): (ref: DocumentRef) => Promise<RawRecord> {
  const known = details && new Map(details.map((row) => [documentKey(row), row]));
  const detailsOf = async ({ datasetId, documentId }: DocumentRef): Promise<RawRecord> => {
    const row = known?.get(documentKey({ dataset_id: datasetId, document_id: documentId }));
    if (row) return row;
    return api.document(datasetId, documentId).catch((error: unknown) => {
      if (error instanceof SkipError) return {};
      throw error;
    });
  };
  return async (ref) => {
    const { data_source_info: source } = await detailsOf(ref);
    return isMapping(source) && isMapping(source.upload_file) ? source.upload_file : {};
  };
}

function uploadIn(record: RawRecord, { datasetId, documentId }: DocumentRef, baseUrl: string): OfferedFile {
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
  if (!record) throw new SkipError("the chunk no longer has it");
  return { ...factsIn(record), address: linkIn(record.source_url, baseUrl), isOwn: false };
}

function linkIn(value: unknown, baseUrl: string): string {
  const address = textOr(value);
  if (address === null || !isLink(address, baseUrl)) throw new SkipError("the service returns no link to it");
  return address;
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

/** A file attached to a chunk. */
interface AttachmentRef {
  readonly id: string;
  /** The document's first chunk with this file. */
  readonly chunkId: string;
}

/** A file to save. */
export interface WantedFile {
  readonly ref: DocumentRef;
  /** The attachment; null for the file that the document was made from. */
  readonly attachment: AttachmentRef | null;
  /** The name of the file in the run's work folder. */
  readonly name: string;
}

/**
 * The files to save, in the order of the documents: the original of each uploaded document, then the files attached to its
 * chunks, each once. Finds attachments in the stored rows, which a resumed run has too. `segments`: the segments of each
 * document.
 */
export async function wantedFiles(
  documents: readonly DocumentToRead[],
  uploads: readonly DocumentToRead[],
  segments: readonly (readonly SegmentFile[])[],
): Promise<readonly WantedFile[]> {
  const uploaded = new Set(uploads.map(({ name }) => name));
  const wanted: WantedFile[] = [];
  for (const [index, { ref, name }] of documents.entries()) {
    if (uploaded.has(name)) wanted.push({ ref, attachment: null, name });
    for (const attachment of await attachmentsOf(segments[index] ?? []))
      wanted.push({ ref, attachment, name: `${name}.${hashOf(attachment.id)}` });
  }
  return wanted;
}

async function attachmentsOf(segments: readonly SegmentFile[]): Promise<readonly AttachmentRef[]> {
  const rows = segments.find(({ kind, format }) => kind === "chunks" && format === "jsonl");
  const chunkIds = new Map<string, string>();
  if (!rows || rows.bytes === 0) return [];
  const { path, start = 0, bytes } = rows;
  for await (const line of readLines(path, { start, end: start + bytes - 1 })) {
    const { id: chunkId, attachments } = JSON.parse(line);
    for (const { id } of attachmentsIn(attachments)) if (!chunkIds.has(id)) chunkIds.set(id, String(chunkId));
  }
  return [...chunkIds].map(([id, chunkId]) => ({ id, chunkId }));
}

/** Converts an id of any length and with any characters to a file name. */
function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 32);
}
