/**
 * The source of all answers, with one method per operation, so that fixed data, changing data or a dump can serve the same routes.
 * Ids arrive as in the path, percent-decoded. A method throws (or rejects with) `notFound` for an unknown id, whether it is
 * well-formed or not.
 */
export interface Knowledge {
  metadataFields(datasetId: string): Awaitable<readonly Details[]>;
  /** `doc_form` is null if unknown. */
  chunks(
    datasetId: string,
    documentId: string,
    query: ListQuery,
  ): Awaitable<Slice<Listed> & { doc_form: string | null }>;
  childChunks(datasetId: string, documentId: string, chunkId: string, query: ListQuery): Awaitable<Slice<Listed>>;
  /** One entry per document of the batch, in no particular order. */
  indexingStatus(datasetId: string, batchId: string): Awaitable<readonly Listed[]>;
  datasets(query: ListQuery): Awaitable<Slice<Listed>>;
  /** Newest first. */
  documents(datasetId: string, query: ListQuery): Awaitable<Slice<Listed>>;
  /** The details of a dataset or document. Metadata fields of a dataset are only its own. */
  dataset(id: string): Awaitable<Details>;
  document(datasetId: string, id: string): Awaitable<Details>;
  datasetMetadata(datasetId: string): Awaitable<Details>;
}

type Awaitable<T> = T | Promise<T>;

/** The requested page (from 1), its size (1 to 100), and the text to search for ("" for all rows). */
export interface ListQuery {
  readonly page: number;
  readonly limit: number;
  readonly keyword: string;
  /** Only chunks or listed documents in one of these statuses; empty for all. Other lists ignore it. */
  readonly statuses: readonly string[];
}

/** One page of a list, and the number of matching rows on all pages. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** An object that the service returns unchanged. */
export type Details = Readonly<Record<string, unknown>>;

/** A row of a list. The service returns it unchanged, with fields in order: null stays null, and missing fields stay missing. */
export interface Listed {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** One page of a list in memory. A keyword searches the text of a row, ignoring case. */
export function pageOf<Row>(
  rows: readonly Row[],
  { page, limit, keyword }: ListQuery,
  textOf: (row: Row) => unknown,
): Slice<Row> {
  const hasKeyword = (text: unknown) => typeof text === "string" && text.toLowerCase().includes(keyword.toLowerCase());
  const found = keyword === "" ? rows : rows.filter((row) => hasKeyword(textOf(row)));
  return { rows: found.slice((page - 1) * limit, page * limit), total: found.length };
}

/** Other names that the service accepts in the status filter of the list of documents. */
const aliases: Readonly<Record<string, string>> = { active: "available", enabled: "available" };

const known = ["queuing", "indexing", "paused", "error", "available", "disabled", "archived"];

/**
 * Filters documents by status, ignoring case. As in the service, an unknown status does not filter. A document without a known
 * status is in no filtered list.
 */
export function statusFilter(statuses: readonly string[]): (status: string | null) => boolean {
  const named = statuses.map((status) => status.toLowerCase()).map((status) => aliases[status] ?? status);
  const wanted = named.filter((status) => known.includes(status));
  return wanted.length === 0 ? () => true : (status) => status !== null && wanted.includes(status);
}

const shownUntilCompleted: ReadonlyMap<unknown, string> = new Map(
  Object.entries({
    ...{ waiting: "queuing", paused: "paused", error: "error" },
    ...{ parsing: "indexing", cleaning: "indexing", splitting: "indexing", indexing: "indexing" },
  }),
);

/** The displayed status of a document, derived from other fields if an older service does not send it. Null if unknown. */
export function shownStatus(listed: Details): string | null {
  const { display_status, indexing_status, enabled, archived } = listed;
  if (typeof display_status === "string") return display_status.toLowerCase();
  if (indexing_status !== "completed") return shownUntilCompleted.get(indexing_status) ?? null;
  if (archived === true) return "archived";
  if (archived !== false || typeof enabled !== "boolean") return null;
  return enabled ? "available" : "disabled";
}

/** Thrown for any answer other than 200. The routes convert it to `{code, message, status}`, with the service's codes. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Thrown where an older service lacks a path: 404 with an HTML page. The message is its title, in plain text. */
export class UnknownPath extends Error {
  override readonly name = "UnknownPath";
}

/** 404 for an unknown or malformed id, which the service does not distinguish. */
export function notFound(what: string, why = ""): Refusal {
  return new Refusal(404, "not_found", `${what} not found.${why && ` ${why}`}`);
}

/** 400 for an invalid parameter, or a request that breaks a rule of the service. */
export function invalidParam(message: string): Refusal {
  return new Refusal(400, "invalid_param", message);
}
