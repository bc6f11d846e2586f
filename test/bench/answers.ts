import { childrenPerList, chunkId, type Dataset, documentId, numbersOf } from "./dataset.js";
import { childRecord, chunkRecord, documentRecord, idsOfChild, idsOfChunk } from "./records.js";
import { answerOf, type FilledRow, Template } from "./template.js";

/** Maximum rows per page, even if the request asks for more. */
const pageSize = 100;

/** Prepared answers of the Knowledge API, in which only the ids are filled in. */
export class Answers {
  readonly #dataset: Dataset;
  readonly #docForm: string;
  readonly #chunks: readonly Template[];
  readonly #children: readonly Template[];

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
    this.#docForm = dataset.embedsChildren ? "hierarchical_model" : "text_model";
    this.#chunks = Array.from({ length: pageSize }, (_, row) => templateOf(chunkRecord(row, dataset.embedsChildren)));
    const children = dataset.childLists ? childrenPerList : 0;
    this.#children = Array.from({ length: children }, (_, row) => templateOf(childRecord(row)));
  }

  /** A page of the documents. Pages count from 1. */
  documents(page: number, limit: number): Buffer {
    const { documents } = this.#dataset;
    const size = Math.min(limit, pageSize);
    const numbers = Array.from({ length: documents }, (_, at) => at).slice((page - 1) * size, page * size);
    const data = numbers.map((at) => documentRecord(documentId(at), at + 1, this.#docForm));
    return Buffer.from(JSON.stringify({ data, has_more: page * size < documents, limit, total: documents, page }));
  }

  /** A page of `limit` chunks of a document. Pages count from 1. Undefined if there is no such document. */
  chunks(ownId: string, page: number, limit: number): Buffer | undefined {
    const { documents, chunks: total } = this.#dataset;
    const { document } = numbersOf(ownId);
    const size = Math.min(limit, pageSize);
    const first = (page - 1) * size;
    if (first >= total || first < 0 || document >= documents || ownId !== documentId(document)) return undefined;
    const rows = Array.from({ length: Math.min(size, total - first) }, (_, row) => this.#chunk(document, first + row));
    const rest = { doc_form: this.#docForm, total, has_more: page * size < total, limit, page };
    return answerOf('{"data":[', rows, `],${JSON.stringify(rest).slice(1)}`);
  }

  /** The child list of a chunk; undefined if there is no such chunk. */
  children(document: number, parent: string): Buffer | undefined {
    const { chunk } = numbersOf(parent);
    if (chunk >= this.#dataset.chunks || parent !== chunkId(document, chunk)) return undefined;
    const rows = this.#children.map(
      (template, rank): FilledRow => ({ template, idOf: idsOfChild(document, chunk, rank), rank }),
    );
    const rest = { total: rows.length, total_pages: rows.length > 0 ? 1 : 0, page: 1, limit: pageSize };
    return answerOf('{"data":[', rows, `],${JSON.stringify(rest).slice(1)}`);
  }

  #chunk(document: number, rank: number): FilledRow {
    return { template: this.#chunks[rank % pageSize] as Template, idOf: idsOfChunk(document, rank), rank };
  }
}

const templateOf = (record: Record<string, unknown>) => new Template(JSON.stringify(record));
