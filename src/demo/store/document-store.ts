import type { Batch, Present, StoredChunk, StoredDataset, StoredDocument } from "../index-knowledge.js";
import { beingIndexed, type Dataset, type Document, invalidParam, notFound, type StatusEntry } from "../knowledge.js";
import {
  documentAt,
  entryAt,
  type IndexingJob,
  isOver,
  outcomeOf,
  reindexedDocument,
  type Source,
  sourceOf,
} from "../reindex.js";
import { jsonReply, type Route, routePath } from "../routes.js";
import type { ChunkText } from "./new-rows.js";
import { cutAnew, datasetWith, sourceFrom } from "./new-source.js";

/** How a document is indexed again. */
interface Manner {
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
 * The datasets and documents that are there at the moment: writes add, replace and remove them, and an indexing makes documents again
 * while time passes. Ids may come in upper case. Throws a 404 for a dataset or document that is not there.
 */
export class DocumentStore implements Present {
  /** In the order in which they are listed. */
  #datasets: ReadonlyMap<string, HeldDataset>;
  /** Those of all datasets. */
  readonly #documents = new Map<string, HeldDocument>();
  readonly #clock: () => Date;
  #jobs = 0;

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
    const begun = [...documents.values()].filter(({ jobs }) => jobs.some((each) => each.batch === batch));
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
    manner: Pick<IndexingJob, "seconds" | "error">,
  ): Begun {
    const dataset = this.#findDataset(datasetId);
    const held = { dataset, version, source: sourceFrom(texts, version, dataset.row), jobs: [] };
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

  #begin(held: HeldDocument, source: Source, manner: Pick<IndexingJob, "seconds" | "error">): Begun {
    return beginJob(held, source, { ...manner, number: ++this.#jobs, startedAt: this.now() });
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

/** An indexing that shall begin; `number` tells apart the batches of one second. */
interface Start extends Pick<IndexingJob, "startedAt" | "seconds" | "error"> {
  readonly number: number;
}

/** Begins to index a document that is idle from a source. Its version is at once the one that the indexing leaves. */
function beginJob(held: HeldDocument, source: Source, { number, startedAt, seconds, error }: Start): Begun {
  const { version: before, dataset } = held;
  const batch = batchName(new Date(startedAt * 1000), number);
  const generation = held.jobs.length + 1;
  const after = reindexedDocument(before, source, { generation, startedAt: Math.floor(startedAt), seconds });
  const begun = { dataset_id: dataset.row.id, document_id: before.row.id, batch };
  const job = { ...begun, before, after, startedAt, seconds, error };
  held.jobs.push(job);
  held.version = outcomeOf(job);
  return begun;
}

/** The document at a time, in Unix seconds. */
function presentAt(held: HeldDocument, now: number): StoredDocument {
  const job = runningAt(held, now);
  return job ? documentAt(job, now) : held.version;
}

/** The indexing that is under way at a time. */
function runningAt({ jobs }: HeldDocument, now: number): IndexingJob | undefined {
  const newest = jobs.at(-1);
  return newest && !isOver(newest, now) ? newest : undefined;
}

/** The entry of the document in its batches; undefined if no indexing began here. */
function entryOf({ jobs }: HeldDocument, now: () => number): StatusEntry | undefined {
  const newest = jobs.at(-1);
  return newest && entryAt(newest, now());
}

/** The time, as the service names batches, and a number. */
function batchName(time: Date, number: number): string {
  return time.toISOString().slice(0, 19).replace(/\D/g, "") + String(number).padStart(6, "0");
}

/** The answer to who has a document indexed: nothing else says which batch that is. */
interface Begun {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly batch: string;
}

/** A dataset of the store. Its row is never changed, but replaced. */
interface HeldDataset {
  row: Dataset;
  readonly documents: Map<string, HeldDocument>;
  /** The batches that it began with. */
  readonly batches: ReadonlyMap<string, Batch>;
}

/** A document of the store. Its versions are never changed, but replaced. */
interface HeldDocument {
  readonly dataset: HeldDataset;
  version: StoredDocument;
  /** The texts that an indexing makes it from. No write changes them. */
  source: Source;
  /** Every indexing that began here, in order. */
  readonly jobs: (IndexingJob & Begun)[];
}

/** A dataset as it is held, with its documents. */
function heldDataset({ row, documents, batches }: StoredDataset): HeldDataset {
  const dataset: HeldDataset = { row, documents: new Map(), batches: new Map(batches.map((each) => [each.id, each])) };
  for (const document of documents) {
    const version = { ...document, embedsChildren: document.embedsChildren ?? embedsAny(document) };
    dataset.documents.set(document.row.id, { dataset, version, source: sourceOf(document), jobs: [] });
  }
  return dataset;
}

/** The texts of a chunk. */
function textsOf({ row: { content, answer, keywords } }: StoredChunk): ChunkText {
  return {
    content,
    answer: typeof answer === "string" ? answer : null,
    keywords: Array.isArray(keywords) ? keywords.map(String) : null,
  };
}

/** The order of a list of documents. */
function newestFirst({ row: a }: StoredDocument, { row: b }: StoredDocument): number {
  return b.created_at - a.created_at || Number(b.position ?? 0) - Number(a.position ?? 0);
}

function embedsAny({ chunks }: StoredDocument): boolean {
  return chunks.some(({ row }) => Array.isArray(row.child_chunks) && row.child_chunks.length > 0);
}

/** How long a re-index takes by default, and at most, in seconds. */
const usual = 5;
const longest = 86_400;

const fewestCharacters = 20;

/**
 * `POST /demo/reindex/<document id>?seconds=5` indexes a document of the demo again. It is no part of the interface
 * that the service stands in for, and lies outside of its base URL. The answer is 202 with what was begun, as JSON; or the
 * batch alone, where plain text is asked for. `max_characters` cuts the source into chunks of that size.
 */
export function reindexRoute(store: { readonly reindex: (documentId: string, manner: Manner) => Begun }): Route {
  return {
    method: "POST",
    path: routePath("/demo/reindex/:document"),
    reply: ({ id, query, accept }) => {
      const manner = { seconds: secondsFrom(query), maxCharacters: charactersFrom(query) };
      const begun = store.reindex(id("document").toLowerCase(), manner);
      if (!accept?.startsWith("text/plain")) return jsonReply(202, begun);
      return { status: 202, type: "text/plain; charset=UTF-8", content: `${begun.batch}\n` };
    },
  };
}

function secondsFrom(query: URLSearchParams): number {
  const text = query.get("seconds") ?? String(usual);
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) <= longest) return Number(text);
  throw invalidParam(`seconds must be a number from 0 to ${longest}.`);
}

function charactersFrom(query: URLSearchParams): number | undefined {
  const text = query.get("max_characters");
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) >= fewestCharacters) return Number(text);
  throw invalidParam(`max_characters must be a whole number from ${fewestCharacters}.`);
}
