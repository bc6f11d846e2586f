import { statusFilter } from "../demo/display-status.js";
import type { Knowledge, Listed, ListQuery, StatusQuery } from "../demo/knowledge.js";
import { notFound, UnknownPath } from "../demo/refusal.js";
import type { DocumentRow } from "../rows/document-row.js";
import { recordsOfLines, recordsOfRows } from "./dump-rows.js";
import { EmbeddedChildren } from "./embedded-children.js";
import { FilterCache } from "./filter-cache.js";
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
import { pageOf, readPage } from "./read-page.js";
import type { RowKey } from "./row-key.js";

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
