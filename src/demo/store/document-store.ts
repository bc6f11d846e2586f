import type { Present, StoredChunk, StoredDataset, StoredDocument } from "../index-knowledge.js";
import type { Dataset, Document, StatusEntry } from "../knowledge.js";
import { beingIndexed, notFound } from "../refusal.js";
import { documentAt, entryAt, isOver, type Reindex } from "../reindex/course.js";
import { reindexedDocument } from "../reindex/reindexed-document.js";
import { type Source, sourceOf } from "../reindex/source.js";
import { datasetWith } from "./change-document.js";
import type { ChunkText } from "./new-chunk.js";
import { cutAnew, sourceFrom } from "./new-source.js";

/** The answer to who has a document indexed anew: nothing else says which batch that is. */
export interface Begun {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly batch: string;
}

/** How a document is indexed anew. */
export interface Manner {
  readonly seconds: number;
  /** The size of the new chunks; undefined for those that the source has. Questions and answers stay pairs. */
  readonly maxCharacters?: number | undefined;
}

/** A chunk, and the document that has it. */
export interface Located {
  readonly dataset: StoredDataset;
  readonly document: StoredDocument;
  readonly chunk: StoredChunk;
}

/** A document of the store. Its versions are never changed, but replaced. */
interface Held {
  readonly dataset: StoredDataset;
  version: StoredDocument;
  /** The texts that a re-index makes it from. No write changes them. */
  source: Source;
  /** All re-indexes that were begun, in their order. */
  readonly reindexes: (Reindex & Begun)[];
}

/** The documents of a knowledge as they are now: writes replace them, and re-indexes make them anew while time passes. */
export class DocumentStore implements Present {
  readonly #datasets: ReadonlyMap<string, StoredDataset>;
  readonly #held = new Map<string, Held>();
  readonly #clock: () => Date;
  #reindexes = 0;

  constructor(datasets: readonly StoredDataset[], clock: () => Date) {
    this.#clock = clock;
    this.#datasets = new Map(datasets.map((dataset) => [dataset.row.id, dataset]));
    for (const dataset of datasets)
      for (const document of dataset.documents) {
        const version = { ...document, embedsChildren: document.embedsChildren ?? embedsAny(document) };
        this.#held.set(document.row.id, { dataset, version, source: sourceOf(document), reindexes: [] });
      }
  }

  /** Unix seconds, with their fraction. */
  now(): number {
    return this.#clock().getTime() / 1000;
  }

  dataset(stored: StoredDataset): Dataset {
    return datasetWith(
      stored,
      stored.documents.map((document) => this.document(document)),
    );
  }

  document({ row }: StoredDocument): StoredDocument {
    return this.read(row.id);
  }

  /** The document as it is now. Throws a 404 for one that is unknown. */
  read(documentId: string): StoredDocument {
    const held = this.#find(documentId);
    const reindex = this.#running(held);
    return reindex ? documentAt(reindex, this.now()) : held.version;
  }

  /** The same, where the path names its dataset, too. */
  readIn(datasetId: string, documentId: string): StoredDocument {
    const dataset = this.#datasets.get(datasetId.toLowerCase());
    if (!dataset) throw notFound("Dataset");
    const document = this.read(documentId.toLowerCase());
    if (this.datasetOf(document) !== dataset) throw notFound("Document");
    return document;
  }

  datasetOf({ row }: StoredDocument): StoredDataset {
    return this.#find(row.id).dataset;
  }

  /** A chunk of any document, as it is now. Throws a 404 for one that is unknown. */
  locate(chunkId: string): Located {
    const id = chunkId.toLowerCase();
    for (const [documentId, { dataset }] of this.#held) {
      const document = this.read(documentId);
      const chunk = document.chunks.find(({ row }) => row.id === id);
      if (chunk) return { dataset, document, chunk };
    }
    throw notFound("Segment");
  }

  /** Puts another version in the place of a document. Throws a 400 for one that is being indexed. */
  write(version: StoredDocument): void {
    const held = this.#find(version.row.id);
    if (this.#running(held)) throw beingIndexed();
    held.version = version;
  }

  /** Changes fields of a document that no write reaches, such as `enabled`, `archived`, `indexing_status` or `doc_form`. */
  setFields(documentId: string, fields: Partial<Document>): void {
    const version = this.read(documentId);
    this.write({ ...version, row: { ...version.row, ...fields } });
  }

  /** The source of a document, piece by piece. */
  source(documentId: string): readonly ChunkText[] {
    return this.#find(documentId).source.map(({ row }) => sourceText(row));
  }

  /** Gives a document another source, which the next re-index takes. */
  setSource(documentId: string, texts: readonly ChunkText[]): void {
    const held = this.#find(documentId);
    held.source = sourceFrom(texts, held.version, held.dataset);
  }

  /** Begins at once and takes so many seconds. Throws a 404 for an unknown document, a 400 for one that is being indexed. */
  reindex(documentId: string, { seconds, maxCharacters }: Manner): Begun {
    const held = this.#find(documentId);
    if (this.#running(held)) throw beingIndexed();
    const { version: before, dataset } = held;
    const source = maxCharacters === undefined ? held.source : cutAnew(held.source, maxCharacters, before, dataset);
    const startedAt = this.now();
    const after = reindexedDocument(before, source, {
      generation: held.reindexes.length + 1,
      startedAt: Math.floor(startedAt),
    });
    const batch = batchName(this.#clock(), ++this.#reindexes);
    const begun = { dataset_id: dataset.row.id, document_id: documentId, batch };
    held.reindexes.push({ ...begun, before, after, startedAt, seconds });
    held.version = after;
    return begun;
  }

  /** The entry in its batches of a document that was indexed anew; undefined for any other. */
  statusEntry(documentId: string): StatusEntry | undefined {
    const reindex = this.#held.get(documentId)?.reindexes.at(-1);
    return reindex && entryAt(reindex, this.now());
  }

  /** The document of a batch that a re-index made; undefined for any other batch. */
  documentOfBatch(datasetId: string, batch: string): string | undefined {
    const all = [...this.#held.values()].flatMap(({ reindexes }) => reindexes);
    return all.find((each) => each.dataset_id === datasetId.toLowerCase() && each.batch === batch)?.document_id;
  }

  #find(documentId: string): Held {
    const held = this.#held.get(documentId);
    if (!held) throw notFound("Document");
    return held;
  }

  #running({ reindexes }: Held): Reindex | undefined {
    const newest = reindexes.at(-1);
    return newest && !isOver(newest, this.now()) ? newest : undefined;
  }
}

function embedsAny({ chunks }: StoredDocument): boolean {
  return chunks.some(({ row }) => Array.isArray(row.child_chunks) && row.child_chunks.length > 0);
}

function sourceText({ content, answer, keywords }: StoredChunk["row"]): ChunkText {
  return {
    content,
    answer: typeof answer === "string" ? answer : null,
    keywords: Array.isArray(keywords) ? keywords.map(String) : null,
  };
}

/** The time, as the service names batches, and a number that tells apart those of one second. */
function batchName(time: Date, number: number): string {
  return time.toISOString().slice(0, 19).replace(/\D/g, "") + String(number).padStart(6, "0");
}
