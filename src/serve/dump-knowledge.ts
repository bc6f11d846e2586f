import { statusFilter } from "../demo/index-knowledge.js";
import {
  type Knowledge,
  type Listed,
  type ListQuery,
  notFound,
  type Slice,
  type StatusQuery,
  UnknownPath,
} from "../demo/knowledge.js";
import type { Manifest } from "../dump/manifest.js";
import type { Kind } from "../rows/columns.js";
import { type DocumentRow, documentKey, type Row } from "../rows/row.js";
import { matchingRows, recordsAt, recordsOfLines, recordsOfRows } from "./dump-rows.js";
import type { IndexedDump } from "./index-dump.js";
import {
  datasetsOf,
  isFiltered,
  knownOfDataset,
  knownOfDocument,
  listedDataset,
  listedDocument,
  type NamedDataset,
} from "./listed-rows.js";
import type { NumberList, RowFile } from "./row-file.js";
import type { RowKey, RowRange } from "./row-index.js";

/** Bytes of the longest child list of a document whose chunks embed their children: 100 chunks make one page. */
const longestEmbedded = 256_000;

interface Dataset extends NamedDataset {
  /** By lower-case id, in the order of the dump. */
  readonly documents: Map<string, DocumentRow>;
}

/**
 * A knowledge that answers from a dump, in its order. Chunks embed their children where the service did so, and an empty list
 * elsewhere. Where a child list of the document is long, or the dump has no children, its chunks say nothing of them, as those
 * of older services. A document that failed is listed, and its chunks are not found.
 */
export class DumpKnowledge implements Knowledge {
  readonly #dump: IndexedDump;
  readonly #datasets: ReadonlyMap<string, Dataset>;
  readonly #filters = new FilterCache();
  readonly #hasChildren: boolean;
  readonly #embedded: EmbeddedChildren;

  constructor(dump: IndexedDump) {
    this.#dump = dump;
    this.#datasets = datasetMap(dump);
    this.#embedded = new EmbeddedChildren(dump.manifest);
    this.#hasChildren = dump.manifest.options.child_chunks !== "none";
  }

  metadataFields(datasetId: string) {
    const fields = this.#dump.fields.of(this.#dataset(datasetId).id);
    if (!fields) throw new UnknownPath("This dump has no metadata fields of the dataset");
    return fields;
  }

  async chunks(datasetId: string, documentId: string, query: StatusQuery) {
    const document = this.#document(datasetId, documentId);
    const { dataset_id, document_id, doc_form } = document;
    const { file } = this.#dump.chunks;
    const list = { file, kind: "chunks", ...this.#dump.chunks.document(dataset_id, document_id) } as const;
    const { rows, total } = await readPage(list, query, this.#filters);
    return { doc_form, rows: await this.#withChildren(document, rows), total };
  }

  async childChunks(datasetId: string, documentId: string, chunkId: string, query: ListQuery) {
    const document = this.#document(datasetId, documentId);
    const id = await this.#chunkId(document, chunkId);
    if (!this.#hasChildren) throw new UnknownPath("This dump was made with child_chunks: none");
    const { file } = this.#dump.children;
    const range = (await this.#dump.children.rowsOf(keyOf(document, id))) ?? { first: 0, end: 0 };
    return readPage({ file, kind: "child_chunks", ...range }, { ...query, statuses: [] }, this.#filters);
  }

  async indexingStatus(datasetId: string, batchId: string) {
    const rows = this.#dump.readings.rowsOf(this.#dataset(datasetId).id, batchId);
    if (!rows) throw notFound("Documents");
    return recordsOfRows(this.#dump.readings.file, "indexing_status", rows);
  }

  datasets(query: ListQuery) {
    const rows = [...this.#datasets.values()].map((dataset) => listedDataset(dataset, dataset.documents.size));
    return pageOf(rows, query, ({ name }) => name);
  }

  async documents(datasetId: string, query: StatusQuery) {
    const { info } = this.#dump;
    const isWanted = statusFilter(query.statuses) ?? (() => true);
    const documents = [...this.#dataset(datasetId).documents.values()].filter((document) =>
      isWanted(info?.of(document)?.status ?? null),
    );
    const { rows, total } = pageOf(documents, query, (document) => info?.of(document)?.name);
    return { rows: await Promise.all(rows.map((document) => this.#listed(document))), total };
  }

  async dataset(id: string) {
    const dataset = this.#dataset(id);
    const details = await this.#dump.datasets?.of({ dataset_id: dataset.id });
    return { ...details, ...knownOfDataset(dataset, dataset.documents.size) };
  }

  async document(datasetId: string, id: string) {
    const document = this.#anyDocument(datasetId, id);
    const { manifest } = this.#dump;
    const knowsCount = document.total !== null && !isFiltered(manifest, document.dataset_id);
    const read = (await this.#dump.documents?.of(document)) ?? (await this.#info(document));
    return { ...(read ?? knownOfDocument(document)), ...(knowsCount && { segment_count: document.total }) };
  }

  async datasetMetadata(datasetId: string) {
    const { id } = this.#dataset(datasetId);
    const { doc_metadata, built_in_field_enabled } = (await this.#dump.datasets?.of({ dataset_id: id })) ?? {};
    if (doc_metadata) return { doc_metadata, built_in_field_enabled };
    const fields = this.#dump.info?.metadata.of(id);
    if (!fields) throw new UnknownPath("This dump has no metadata of the dataset");
    return { doc_metadata: fields };
  }

  async #listed(document: DocumentRow): Promise<Listed> {
    return (await this.#info(document)) ?? listedDocument(document);
  }

  /** The row of a document in the list of the service; undefined where the service was not asked. */
  async #info(document: DocumentRow): Promise<Listed | undefined> {
    const { info } = this.#dump;
    const place = info?.of(document);
    return info && place ? (await recordsOfRows(info.file, "document_info", [place.row]))[0] : undefined;
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

  /** One whose chunks the dump has. */
  #document(datasetId: string, id: string): DocumentRow {
    const document = this.#anyDocument(datasetId, id);
    if (document.status === "failed")
      throw notFound("Document", `It could not be read when this dump was made: ${document.error}`);
    return document;
  }

  async #chunkId(document: DocumentRow, id: string): Promise<string> {
    for (const each of new Set([id, id.toLowerCase()]))
      if (await this.#dump.chunks.rowsOf(keyOf(document, each))) return each;
    throw notFound("Segment");
  }

  async #withChildren(document: DocumentRow, chunks: readonly Listed[]): Promise<readonly Listed[]> {
    if (!this.#hasChildren) return chunks;
    const { children } = this.#dump;
    if (!this.#embedded.isIn(document))
      return chunks.map((chunk) => (Object.hasOwn(chunk, "child_chunks") ? chunk : { ...chunk, child_chunks: [] }));
    if (children.document(document.dataset_id, document.document_id).longestRun > longestEmbedded) return chunks;
    const lists = await children.linesOf(chunks.map(({ id }) => keyOf(document, id)));
    return chunks.map((chunk, at) => {
      const list = lists[at];
      if (Object.hasOwn(chunk, "child_chunks") || !list) return chunk; // no list, as extra has it
      return { ...chunk, child_chunks: recordsOfLines(children.file, "child_chunks", list) };
    });
  }
}

function keyOf({ dataset_id, document_id }: DocumentRow, id: string): RowKey {
  return { dataset: dataset_id, document: document_id, id };
}

function datasetMap({ manifest }: IndexedDump): ReadonlyMap<string, Dataset> {
  const datasets = new Map<string, Dataset>();
  for (const { id, name } of datasetsOf(manifest)) datasets.set(id.toLowerCase(), { id, name, documents: new Map() });
  for (const document of manifest.documents)
    datasets.get(document.dataset_id.toLowerCase())?.documents.set(document.document_id.toLowerCase(), document);
  return datasets;
}

/**
 * Which documents embed their children in their chunks. The service does so where parents are paragraphs: not in documents
 * that are one parent, nor in those of text and of questions and answers, though children can exist there.
 */
class EmbeddedChildren {
  readonly #documents = new Map<string, boolean>();

  constructor({ child_lists: lists }: Manifest) {
    for (const list of lists) this.#documents.set(documentKey(list), list.embedding > 0);
  }

  /**
   * By what the run saw. A run with `child_chunks: none` does not say: then none in text_model and qa_model, else all, as clients
   * may take silence for none.
   */
  isIn(document: DocumentRow): boolean {
    const { doc_form } = document;
    return this.#documents.get(documentKey(document)) ?? (doc_form !== "text_model" && doc_form !== "qa_model");
  }
}

/** A list that stands in a file: what kind its rows are, and which they are. */
interface StoredList extends RowRange {
  readonly file: RowFile;
  readonly kind: Kind;
}

/** One page of a stored list. Without a filter, only its rows are read; with one, the whole list, once. */
async function readPage(list: StoredList, query: StatusQuery, filters: FilterCache): Promise<Slice<Listed>> {
  const { file, kind, first, end } = list;
  const start = (query.page - 1) * query.limit;
  const matches = isAskedFor(query);
  if (!matches) {
    const from = first + Math.min(start, end - first);
    const rows = await recordsAt(file, kind, { first: from, end: Math.min(from + query.limit, end) });
    return { rows, total: end - first };
  }
  const name = JSON.stringify([kind, first, end, [...query.statuses].sort(), query.keyword.toLowerCase()]);
  const found = await filters.get(name, () => matchingRows(file, { first, end }, matches));
  return { rows: await recordsOfRows(file, kind, found.slice(start, start + query.limit)), total: found.length };
}

/** One page of a list in memory, whose filter looks at the name. */
function pageOf<Row>(
  rows: readonly Row[],
  { page, limit, keyword }: ListQuery,
  nameOf: (row: Row) => unknown,
): Slice<Row> {
  const found = keyword === "" ? rows : rows.filter((row) => hasKeyword(nameOf(row), keyword));
  return { rows: found.slice((page - 1) * limit, page * limit), total: found.length };
}

/** Undefined when every row is asked for. */
function isAskedFor({ statuses, keyword }: StatusQuery): ((row: Row) => boolean) | undefined {
  if (statuses.length === 0 && keyword === "") return undefined;
  const wanted = new Set<unknown>(statuses);
  return ({ status, content }) =>
    (wanted.size === 0 || wanted.has(status)) && (keyword === "" || hasKeyword(content, keyword));
}

function hasKeyword(text: unknown, keyword: string): boolean {
  return typeof text === "string" && text.toLowerCase().includes(keyword.toLowerCase());
}

/** Bytes that the numbers of matching rows may take, all filters together; the newest filter is always kept. */
const budget = 64_000_000;

/** The rows that match a filter, kept for the next page: a client that reads them all asks for the same filter again. */
export class FilterCache {
  readonly #found = new Map<string, Promise<NumberList>>();
  readonly #sizes = new Map<string, number>();

  /** The matching rows of a filter; calls `find` if they are not known, once however many callers wait. */
  get(name: string, find: () => Promise<NumberList>): Promise<NumberList> {
    const earlier = this.#found.get(name);
    this.#found.delete(name); // put behind the others: the first is dropped first
    const found = earlier ?? this.#keep(name, find());
    this.#found.set(name, found);
    return found;
  }

  async #keep(name: string, finding: Promise<NumberList>): Promise<NumberList> {
    try {
      const rows = await finding;
      this.#sizes.set(name, rows.bytes);
      this.#dropOldest(name);
      return rows;
    } catch (error) {
      this.#found.delete(name);
      throw error;
    }
  }

  #dropOldest(newest: string): void {
    let sum = 0;
    for (const size of this.#sizes.values()) sum += size;
    for (const [name] of this.#found) {
      if (sum <= budget) return;
      const size = this.#sizes.get(name);
      if (name === newest || size === undefined) continue;
      sum -= size;
      this.#sizes.delete(name);
      this.#found.delete(name);
    }
  }
}
