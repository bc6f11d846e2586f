import {
  type Details,
  type Knowledge,
  type Listed,
  type ListQuery,
  notFound,
  pageOf,
  type Slice,
  shownStatus,
  statusFilter,
  UnknownPath,
} from "../demo/knowledge.js";
import { filteredDatasets, type Manifest } from "../dump/manifest.js";
import type { Kind } from "../rows/columns.js";
import { type DocumentRow, documentKey, type Row } from "../rows/row.js";
import { type DumpDatabase, type RowFilter, recordOf } from "./query-dump.js";

/**
 * Maximum bytes of a child list that chunks embed. If a document has a longer one, its chunks embed no children: a page holds
 * 100 chunks and would get too large.
 */
const longestEmbedded = 256_000;

/** A dataset of a dump. The name is null if unknown. */
interface Dataset {
  readonly id: string;
  readonly name: string | null;
  /** The documents by lower-case id, in the order of the dump. */
  readonly documents: Map<string, DocumentRow>;
}

/**
 * Answers from a dump, in its order. Chunks embed their children if those of the service did; if not, they embed an empty
 * list. They omit the field, as older services do, if the dump has no children, or if a child list of the document is long. A
 * failed document is listed, but its chunks are not found.
 */
export class DumpKnowledge implements Knowledge {
  readonly #manifest: Manifest;
  readonly #rows: DumpDatabase;
  readonly #datasets: ReadonlyMap<string, Dataset>;
  readonly #hasChildren: boolean;
  readonly #embedding: ReadonlyMap<string, boolean>;
  /** Rows of `document_info` by `documentKey`, for each dataset that was requested. */
  readonly #info = new Map<string, Promise<ReadonlyMap<string, Row>>>();

  constructor(manifest: Manifest, rows: DumpDatabase) {
    this.#manifest = manifest;
    this.#rows = rows;
    this.#datasets = datasetMap(manifest);
    this.#hasChildren = manifest.options.child_chunks !== "none";
    this.#embedding = new Map(manifest.child_lists.map((list) => [documentKey(list), list.embedding > 0]));
  }

  async metadataFields(datasetId: string) {
    const rows = await this.#rows.rows("metadata_fields", { dataset_id: this.#dataset(datasetId).id });
    if (rows.length === 0) throw new UnknownPath("This dump has no metadata fields of the dataset");
    return rows.map(({ name, type }) => ({ name, type }));
  }

  async chunks(datasetId: string, documentId: string, query: ListQuery) {
    const document = this.#document(datasetId, documentId);
    const { rows, total } = await this.#page("chunks", idsOf(document), query);
    return { doc_form: document.doc_form, rows: await this.#withChildren(document, rows), total };
  }

  async childChunks(datasetId: string, documentId: string, chunkId: string, query: ListQuery) {
    const document = this.#document(datasetId, documentId);
    const found =
      document.child_chunk_count > 0 ? await this.#childPage(document, chunkId, query) : { rows: [], total: 0 };
    if (found.total > 0) return found;
    const id = await this.#chunkId(document, chunkId);
    if (!this.#hasChildren) throw new UnknownPath("This dump was made with child_chunks: none");
    return id === chunkId ? found : this.#childPage(document, id, query);
  }

  async indexingStatus(datasetId: string, batchId: string) {
    const { id: dataset_id } = this.#dataset(datasetId);
    const rows = await this.#rows.rows("indexing_status", { dataset_id, keys: [batchId] });
    if (rows.length === 0) throw notFound("Documents");
    return newestReadings(rows).map((row) => recordOf("indexing_status", row));
  }

  datasets(query: ListQuery) {
    const rows = [...this.#datasets.values()].map(({ id, name, documents }) => {
      return { id, name, document_count: documents.size };
    });
    return pageOf(rows, query, ({ name }) => name);
  }

  async documents(datasetId: string, query: ListQuery) {
    const dataset = this.#dataset(datasetId);
    const info = await this.#infoOf(dataset.id);
    const isWanted = statusFilter(query.statuses);
    const documents = [...dataset.documents.values()].filter((document) => {
      const row = info.get(documentKey(document));
      return isWanted(row ? shownStatus(row) : null);
    });
    const { rows, total } = pageOf(documents, query, (document) => info.get(documentKey(document))?.name);
    const listed = rows.map((document) => {
      const row = info.get(documentKey(document));
      return row ? recordOf("document_info", row) : unlisted(document);
    });
    return { rows: listed, total };
  }

  async dataset(id: string) {
    const { id: dataset_id, name, documents } = this.#dataset(id);
    const details = await this.#detailsOf("datasets", { dataset_id });
    return { ...details, id: dataset_id, ...(name === null ? {} : { name }), document_count: documents.size };
  }

  async document(datasetId: string, id: string) {
    const document = this.#anyDocument(datasetId, id);
    const { document_id, dataset_id, doc_form, total } = document;
    const row = (await this.#infoOf(dataset_id)).get(documentKey(document));
    const details =
      (await this.#detailsOf("document_details", { dataset_id, document_id })) ??
      (row ? recordOf("document_info", row) : { id: document_id, ...(doc_form === null ? {} : { doc_form }) });
    const knowsCount = total !== null && !filteredDatasets(this.#manifest.options).includes(dataset_id);
    return { ...details, ...(knowsCount && { segment_count: total }) };
  }

  async datasetMetadata(datasetId: string) {
    const { id } = this.#dataset(datasetId);
    const { doc_metadata, built_in_field_enabled } = (await this.#detailsOf("datasets", { dataset_id: id })) ?? {};
    if (doc_metadata) return { doc_metadata, built_in_field_enabled };
    const fields = fieldsInUse([...(await this.#infoOf(id)).values()]);
    if (!fields) throw new UnknownPath("This dump has no metadata of the dataset");
    return { doc_metadata: fields };
  }

  #childPage(document: DocumentRow, chunkId: string, query: ListQuery): Promise<Slice<Listed>> {
    return this.#page("child_chunks", { ...idsOf(document), keys: [chunkId] }, { ...query, statuses: [] });
  }

  /** One page of a list. A keyword scans the whole list. */
  async #page(kind: Kind, filter: RowFilter, query: ListQuery): Promise<Slice<Listed>> {
    const { page, limit, keyword, statuses } = query;
    const first = (page - 1) * limit;
    const wanted = { ...filter, statuses, keyword };
    const rows = await this.#rows.records(kind, wanted, { first, limit });
    const isEnd = rows.length < limit && (rows.length > 0 || first === 0);
    return { rows, total: isEnd ? first + rows.length : await this.#rows.count(kind, wanted) };
  }

  async #detailsOf(kind: "datasets" | "document_details", filter: RowFilter): Promise<Details | undefined> {
    return (await this.#rows.records(kind, filter))[0];
  }

  #infoOf(dataset_id: string): Promise<ReadonlyMap<string, Row>> {
    const known = this.#info.get(dataset_id);
    if (known) return known;
    const rows = this.#rows.rows("document_info", { dataset_id });
    const info = rows.then((found) => new Map(found.map((row) => [documentKey(row), row])));
    this.#info.set(dataset_id, info);
    info.catch(() => this.#info.delete(dataset_id)); // retried the next time
    return info;
  }

  #dataset(id: string): Dataset {
    const dataset = this.#datasets.get(id.toLowerCase());
    if (!dataset) throw notFound("Dataset");
    return dataset;
  }

  #anyDocument(datasetId: string, id: string): DocumentRow {
    const document = this.#dataset(datasetId).documents.get(id.toLowerCase());
    if (!document) throw notFound("Document");
    return document;
  }

  /** The document with this id. Throws if it could not be read when the dump was made. */
  #document(datasetId: string, id: string): DocumentRow {
    const document = this.#anyDocument(datasetId, id);
    if (document.status === "failed")
      throw notFound("Document", `It could not be read when this dump was made: ${document.error}`);
    return document;
  }

  async #chunkId(document: DocumentRow, id: string): Promise<string> {
    for (const key of new Set([id, id.toLowerCase()]))
      if ((await this.#rows.count("chunks", { ...idsOf(document), keys: [key] })) > 0) return key;
    throw notFound("Segment");
  }

  async #withChildren(document: DocumentRow, chunks: readonly Listed[]): Promise<readonly Listed[]> {
    if (!this.#hasChildren || chunks.length === 0) return chunks;
    const isSilent = (chunk: Listed) => !Object.hasOwn(chunk, "child_chunks"); // otherwise it is a value from `extra` that is not a list
    if (!this.#embedsChildren(document))
      return chunks.map((chunk) => (isSilent(chunk) ? { ...chunk, child_chunks: [] } : chunk));
    if ((this.#rows.longestLists.get(documentKey(document)) ?? 0) > longestEmbedded) return chunks;
    const keys = chunks.map(({ id }) => id);
    const children = new Map<string, Listed[]>(keys.map((id) => [id, []]));
    for (const row of await this.#rows.rows("child_chunks", { ...idsOf(document), keys }))
      children.get(String(row.segment_id))?.push(recordOf("child_chunks", row));
    return chunks.map((chunk) => (isSilent(chunk) ? { ...chunk, child_chunks: children.get(chunk.id) } : chunk));
  }

  /**
   * Whether chunks of a document embed their children, from what the run saw. The service does this for paragraph parents. A run
   * with `child_chunks: none` does not know. Then chunks of text_model and qa_model documents embed none, and all others do, because
   * clients may take a missing field to mean that there are no children.
   */
  #embedsChildren(document: DocumentRow): boolean {
    const { doc_form } = document;
    return this.#embedding.get(documentKey(document)) ?? (doc_form !== "text_model" && doc_form !== "qa_model");
  }
}

function idsOf({ dataset_id, document_id }: DocumentRow): RowFilter {
  return { dataset_id, document_id };
}

/** The newest status of each document, in the order of the dump. */
function newestReadings(rows: readonly Row[]): readonly Row[] {
  const newest = new Map<string, Row>();
  const timeOf = ({ captured_at }: Row) => Date.parse(String(captured_at)) || 0;
  for (const row of rows) {
    const earlier = newest.get(documentKey(row));
    if (!earlier || timeOf(earlier) <= timeOf(row)) newest.set(documentKey(row), row);
  }
  return rows.filter((row) => newest.get(documentKey(row)) === row);
}

/** Fields that the service sends for a document, but that a dump without `document_info` lacks. */
const unknownOfDocument = [
  ...["name", "position", "indexing_status", "display_status", "created_at", "tokens", "word_count"],
  ...["hit_count", "enabled", "archived", "error"],
];

/** The record of a document that the job names by id, so that the service did not list it. */
function unlisted({ document_id, doc_form }: DocumentRow): Listed {
  return { id: document_id, ...Object.fromEntries(unknownOfDocument.map((name) => [name, null])), doc_form };
}

/** The datasets of a dump with their documents, including empty ones, in the order of the job, or of the service if it listed them. */
function datasetMap({ options, discovered, documents }: Manifest): ReadonlyMap<string, Dataset> {
  const listings = (discovered?.datasets ?? []).filter(({ state }) => state !== "skipped");
  const names = new Map(listings.map(({ dataset_id, name }) => [dataset_id, name]));
  const given = Array.isArray(options.datasets) ? options.datasets.map((dataset) => memberOf(dataset, "id")) : [];
  const datasets = new Map<string, Dataset>();
  for (const id of [...given, ...names.keys(), ...documents.map(({ dataset_id }) => dataset_id)])
    if (typeof id === "string" && !datasets.has(id.toLowerCase()))
      datasets.set(id.toLowerCase(), { id, name: names.get(id) ?? null, documents: new Map() });
  for (const document of documents)
    datasets.get(document.dataset_id.toLowerCase())?.documents.set(document.document_id.toLowerCase(), document);
  return datasets;
}

/**
 * The metadata fields that the listed documents of a dataset use; undefined if none has metadata. A run shows neither the unused
 * fields nor how many documents of the whole dataset use each.
 */
function fieldsInUse(info: readonly Row[]): readonly Details[] | undefined {
  const lists = info.map(({ extra }) => memberOf(extra, "doc_metadata")).filter((value) => Array.isArray(value));
  if (lists.length === 0) return undefined;
  const fields = new Map<string, Details>();
  for (const field of lists.flat()) {
    const id = memberOf(field, "id");
    if (typeof id !== "string" || id === "built-in" || fields.has(id)) continue; // built-in fields have a list of their own
    fields.set(id, { id, name: memberOf(field, "name"), type: memberOf(field, "type") });
  }
  return [...fields.values()];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
