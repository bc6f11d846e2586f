/**
 * The source of all answers: one method per operation, so that data in memory, data that changes while it is served,
 * or a dump on disk can stand behind the same routes. Ids arrive as they stand in the path, percent-decoded. A method that
 * does not know an id throws (or rejects with) `notFound`, whether it is well-formed or not.
 */
export interface Knowledge {
  metadataFields(datasetId: string): Awaitable<readonly MetadataField[]>;
  chunks(datasetId: string, documentId: string, query: ListQuery): Awaitable<ChunkSlice>;
  childChunks(datasetId: string, documentId: string, chunkId: string, query: ListQuery): Awaitable<Slice<Listed>>;
  /** One entry per document of the batch, in no particular order. */
  indexingStatus(datasetId: string, batchId: string): Awaitable<readonly Listed[]>;
  datasets(query: ListQuery): Awaitable<Slice<Listed>>;
  /** Newest first. */
  documents(datasetId: string, query: ListQuery): Awaitable<Slice<Listed>>;
  /** The details of one dataset or document; of the metadata fields of a dataset, those that it was given. */
  dataset(id: string): Awaitable<Details>;
  document(datasetId: string, id: string): Awaitable<Details>;
  datasetMetadata(datasetId: string): Awaitable<Details>;
}

type Awaitable<T> = T | Promise<T>;

/** The page to answer (from 1), how many rows it holds (1 to 100), and the text to look for ("" for all rows). */
export interface ListQuery {
  readonly page: number;
  readonly limit: number;
  readonly keyword: string;
  /** Only chunks, or documents that show themselves, in one of these statuses; empty for all. Other lists ignore it. */
  readonly statuses: readonly string[];
}

/** One page of a list, and how many rows match over all its pages. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

interface ChunkSlice extends Slice<Listed> {
  /** Null where it is not known. */
  readonly doc_form: string | null;
}

/** One object that is answered as it is. */
export type Details = Readonly<Record<string, unknown>>;

/** A row of any list. It is answered as it is, fields in their order: what is null stays null, what is absent stays absent. */
export interface Listed {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** `name` and `type` are texts; a service may send anything. */
export interface MetadataField {
  readonly name: unknown;
  readonly type: unknown;
}

/** One page of a list in memory. A keyword looks at the text of a row. */
export function pageOf<Row>(
  rows: readonly Row[],
  { page, limit, keyword }: ListQuery,
  textOf: (row: Row) => unknown,
): Slice<Row> {
  const found = keyword === "" ? rows : rows.filter((row) => hasKeyword(textOf(row), keyword));
  return { rows: found.slice((page - 1) * limit, page * limit), total: found.length };
}

/** Whether a text has a keyword, in any case. */
export function hasKeyword(text: unknown, keyword: string): boolean {
  return typeof text === "string" && text.toLowerCase().includes(keyword.toLowerCase());
}

/** Other words that the service takes for a status in the filter of the list of documents. */
const aliases: Readonly<Record<string, string>> = { active: "available", enabled: "available" };

const known: ReadonlySet<string> = new Set([
  ...["queuing", "indexing", "paused", "error", "available", "disabled", "archived"],
]);

/**
 * Whether a document of this status is asked for. Case does not matter, and a status that the service does not know is no
 * filter, as there. A document without a known status is in no filtered list.
 */
export function statusFilter(statuses: readonly string[]): ((status: string | null) => boolean) | undefined {
  const named = statuses.map((status) => status.toLowerCase()).map((status) => aliases[status] ?? status);
  const wanted = new Set(named.filter((status) => known.has(status)));
  return wanted.size === 0 ? undefined : (status) => status !== null && wanted.has(status);
}

/** The status that a document shows; older services leave it to the reader. Null where it is not known. */
export function shownStatus(listed: Details): string | null {
  const { display_status, indexing_status, enabled, archived } = listed;
  if (typeof display_status === "string") return display_status.toLowerCase();
  switch (indexing_status) {
    case "waiting":
      return "queuing";
    case "paused":
    case "error":
      return indexing_status;
    case "parsing":
    case "cleaning":
    case "splitting":
    case "indexing":
      return "indexing";
    case "completed":
      if (archived === true) return "archived";
      if (archived !== false || typeof enabled !== "boolean") return null;
      return enabled ? "available" : "disabled";
    default:
      return null;
  }
}

/** Thrown wherever a request cannot be answered with 200; the routes turn it into `{code, message, status}`. The codes are those of the service. */
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

/** Thrown where an older service has no such path at all: 404 with an HTML page, whose title the message is. It is plain text without markup. */
export class UnknownPath extends Error {
  override readonly name = "UnknownPath";
}

/** 404 for an id that is unknown or malformed; the service does not tell the two apart. */
export function notFound(what: string, why = ""): Refusal {
  return new Refusal(404, "not_found", `${what} not found.${why && ` ${why}`}`);
}

/** 400 for a request that cannot be done as it is: a parameter, or a rule of the service that it breaks. */
export function invalidParam(message: string): Refusal {
  return new Refusal(400, "invalid_param", message);
}
