import type { Present, StoredChunk, StoredDataset, StoredDocument } from "../index-knowledge.js";
import type { Dataset, Document, StatusEntry } from "../knowledge.js";
import { beingIndexed, notFound } from "../refusal.js";
import type { Course } from "../reindex/course.js";
import type { Source } from "../reindex/source.js";
import { datasetWith } from "./change-document.js";
import { type Begun, type HeldDataset, type HeldDocument, heldDataset, newestFirst, textsOf } from "./held.js";
import { beginCourse, entryOf, presentAt, runningAt } from "./held-courses.js";
import type { ChunkText } from "./new-chunk.js";
import { cutAnew, sourceFrom } from "./new-source.js";

/** How a document is indexed anew. */
export interface Manner {
  readonly seconds: number;
  /** The size of the new chunks; undefined for those that the source has. Questions and answers stay pairs. */
  readonly maxCharacters?: number | undefined;
}

/** A chunk, and the document that has it. */
export interface Located {
  readonly dataset: Dataset;
  readonly document: StoredDocument;
  readonly chunk: StoredChunk;
}

/**
 * The datasets and documents that are there at the moment: writes add, replace and remove them, and an indexing makes documents anew
 * while time passes. Ids may come in upper case. Throws a 404 for a dataset or document that is not there.
 */
export class DocumentStore implements Present {
  /** In the order in which they are listed. */
  #datasets: ReadonlyMap<string, HeldDataset>;
  /** Those of all datasets. */
  readonly #documents = new Map<string, HeldDocument>();
  readonly #clock: () => Date;
  #courses = 0;

  constructor(datasets: readonly StoredDataset[], clock: () => Date) {
    this.#clock = clock;
    this.#datasets = new Map(datasets.map((dataset) => [dataset.row.id, heldDataset(dataset)]));
    for (const { documents } of this.#datasets.values())
      for (const [id, document] of documents) this.#documents.set(id, document);
  }

  /** Unix seconds, with their fraction. */
  now(): number {
    return this.#clock().getTime() / 1000;
  }

  datasets(): readonly Dataset[] {
    return [...this.#datasets.keys()].map((id) => this.dataset(id));
  }

  dataset(datasetId: string): Dataset {
    const { row } = this.#findDataset(datasetId);
    return datasetWith(row, this.documents(datasetId));
  }

  documents(datasetId: string): readonly StoredDocument[] {
    return [...this.#findDataset(datasetId).documents.values()].map((held) => this.#present(held)).sort(newestFirst);
  }

  /** The document as it is now. */
  read(documentId: string): StoredDocument {
    return this.#present(this.#find(documentId));
  }

  /** The same, where the path names its dataset, too. */
  readIn(datasetId: string, documentId: string): StoredDocument {
    const held = this.#findDataset(datasetId).documents.get(documentId.toLowerCase());
    if (!held) throw notFound("Document");
    return this.#present(held);
  }

  /** The entries of a batch, whether it came with the data or began here. */
  statusEntries(datasetId: string, batch: string): readonly StatusEntry[] {
    const { documents, batches } = this.#findDataset(datasetId);
    const given = (batches.get(batch)?.entries() ?? []).filter(({ id }) => documents.has(id));
    const begun = [...documents.values()].filter(({ courses }) => courses.some((each) => each.batch === batch));
    if (given.length + begun.length === 0) throw notFound("Documents");
    const newest = (held: HeldDocument | undefined) => held && entryOf(held, () => this.now());
    return [
      ...given.map((entry) => newest(documents.get(entry.id)) ?? entry),
      ...begun.flatMap((held) => newest(held) ?? []),
    ];
  }

  datasetOf({ row }: StoredDocument): Dataset {
    return this.#find(row.id).dataset.row;
  }

  /** A chunk of any document, as it is now. Throws a 404 for one that is unknown. */
  locate(chunkId: string): Located {
    const id = chunkId.toLowerCase();
    for (const held of this.#documents.values()) {
      const document = this.#present(held);
      const chunk = document.chunks.find(({ row }) => row.id === id);
      if (chunk) return { dataset: held.dataset.row, document, chunk };
    }
    throw notFound("Segment");
  }

  /** Adds a dataset without documents, or replaces the row of one that is there. */
  writeDataset(row: Dataset): void {
    const held = this.#datasets.get(row.id);
    if (held) held.row = row;
    else this.#datasets = new Map([[row.id, { row, documents: new Map(), batches: new Map() }], ...this.#datasets]);
  }

  /** Removes a dataset with all its documents. */
  removeDataset(datasetId: string): void {
    const { row, documents } = this.#findDataset(datasetId);
    for (const id of documents.keys()) this.#documents.delete(id);
    this.#datasets = new Map([...this.#datasets].filter(([id]) => id !== row.id));
  }

  /** Adds a document that has no chunks yet, and begins to index it from these texts. It fails at the end if there is an `error`. */
  addDocument(
    datasetId: string,
    version: StoredDocument,
    texts: readonly ChunkText[],
    manner: Pick<Course, "seconds" | "error">,
  ): Begun {
    const dataset = this.#findDataset(datasetId);
    const held = { dataset, version, source: sourceFrom(texts, version, dataset.row), courses: [] };
    dataset.documents.set(version.row.id, held);
    this.#documents.set(version.row.id, held);
    return this.#begin(held, held.source, manner);
  }

  /** Removes a document. Throws a 400 for one that is being indexed. */
  removeDocument(documentId: string): void {
    this.checkIdle(documentId);
    const held = this.#find(documentId);
    held.dataset.documents.delete(held.version.row.id);
    this.#documents.delete(held.version.row.id);
  }

  /** Throws a 400 for a document that is being indexed. */
  checkIdle(documentId: string): void {
    if (runningAt(this.#find(documentId), this.now())) throw beingIndexed();
  }

  /** Puts another version in the place of a document. Throws a 400 for one that is being indexed. */
  write(version: StoredDocument): void {
    this.checkIdle(version.row.id);
    this.#find(version.row.id).version = version;
  }

  /** Changes fields of a document, such as `enabled`, `archived`, `indexing_status` or `doc_form`. The same. */
  setFields(documentId: string, fields: Partial<Document>): void {
    const version = this.read(documentId);
    this.write({ ...version, row: { ...version.row, ...fields } });
  }

  /** The source of a document, piece by piece. */
  source(documentId: string): readonly ChunkText[] {
    return this.#find(documentId).source.map(textsOf);
  }

  /** Gives a document another source, which the next re-index takes. */
  setSource(documentId: string, texts: readonly ChunkText[]): void {
    const held = this.#find(documentId);
    held.source = sourceFrom(texts, held.version, held.dataset.row);
  }

  /** Begins at once and takes so many seconds. Throws a 404 for an unknown document, a 400 for one that is being indexed. */
  reindex(documentId: string, { seconds, maxCharacters }: Manner): Begun {
    this.checkIdle(documentId);
    const held = this.#find(documentId);
    const { version, source, dataset } = held;
    const pieces = maxCharacters === undefined ? source : cutAnew(source, maxCharacters, version, dataset.row);
    return this.#begin(held, pieces, { seconds });
  }

  #begin(held: HeldDocument, source: Source, manner: Pick<Course, "seconds" | "error">): Begun {
    return beginCourse(held, source, { ...manner, number: ++this.#courses, startedAt: this.now() });
  }

  #findDataset(datasetId: string): HeldDataset {
    const held = this.#datasets.get(datasetId.toLowerCase());
    if (!held) throw notFound("Dataset");
    return held;
  }

  #find(documentId: string): HeldDocument {
    const held = this.#documents.get(documentId.toLowerCase());
    if (!held) throw notFound("Document");
    return held;
  }

  #present(held: HeldDocument): StoredDocument {
    return presentAt(held, this.now());
  }
}
