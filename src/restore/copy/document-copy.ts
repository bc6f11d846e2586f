import { type KnowledgeApi, pageSize } from "../../client/knowledge-api.js";
import type { PreparedWrite } from "../../client/write/operations.js";
import type { ChunkRow, ChunkWithChildren } from "../../compare/document-rows.js";
import { SkipError } from "../../errors.js";
import type { WriteFacts } from "../journal-lines.js";
import type { RowDifference } from "../result.js";
import { ifThere, type Place, readStandingChunks, type StandingChunk, standingChunk } from "../standing-rows.js";
import {
  type Answered,
  type Ended,
  type Find,
  type Waiting,
  type WriteOptions,
  writeNow,
  writeOnce,
} from "../write-once.js";
import type { ReadChunks } from "./coming-rows.js";
import type { DocumentPlan } from "./copy-plan.js";
import type { CopyProgress } from "./copy-result.js";

/** The facts of a write to a document, but for those that are the same for all of them. */
export type RowFacts = Omit<WriteFacts, "dataset_id" | "document_id">;

/** A chunk of the target, and the chunk of the dump that it is a copy of. */
export interface ChunkCopy {
  readonly row: ChunkWithChildren;
  readonly id: string;
  readonly enabled: boolean;
  readonly attachment_ids: readonly string[];
}

/** The outcome of a write, where the document is continued. */
export type RowOutcome<T> = Exclude<Ended<T>, { readonly kind: "unknown" }>;

/** A document of the target that takes the rows of one of the dump. */
export class DocumentCopy {
  readonly work: DocumentWork;
  /** The chunks that come, in the order of the dump: their numbers in the journal are their places here. */
  readonly planned: PlannedChunks;
  /** Rows that did not come. */
  readonly failed: RowDifference[] = [];
  /** Ids of the chunks of the target that are copies. */
  readonly ids = new Set<string>();

  constructor(work: DocumentWork) {
    this.work = work;
    this.planned = new PlannedChunks(work.options.readChunks(work.plan));
  }

  /** Whether chunks have children, in the dump or because the service makes them. */
  get hasChildren(): boolean {
    const { children, doc_form } = this.work.plan;
    return children > 0 || doc_form === "hierarchical_model";
  }

  fail(level: RowDifference["level"], { id, position }: Pick<ChunkRow, "id" | "position">, reason: string): void {
    this.failed.push({ level, id, position, reason });
  }
}

/** The chunks that come, read once from the first to the last: only the next ones are in memory. */
class PlannedChunks {
  readonly #left: AsyncIterator<ChunkWithChildren>;
  /** The number of the first chunk that is in memory. */
  #first = 0;
  #ahead: ChunkWithChildren[] = [];

  constructor(chunks: AsyncIterable<ChunkWithChildren>) {
    this.#left = chunks[Symbol.asyncIterator]();
  }

  /** Returns at most so many chunks, from number `from` on. Those before it cannot be asked for again. */
  async from(from: number, most: number): Promise<readonly ChunkWithChildren[]> {
    const end = from + most;
    while (this.#first + this.#ahead.length < end) {
      const next = await this.#left.next();
      if (next.done) break;
      if (this.#first + this.#ahead.length < from) this.#first++;
      else this.#ahead.push(next.value);
    }
    this.#ahead = this.#ahead.slice(Math.max(0, from - this.#first));
    this.#first = Math.max(this.#first, from);
    return this.#ahead.slice(0, most);
  }
}

/** An error that says what the owner can do about a document that is not as this copy left it. */
export function astray({ place }: DocumentWork, problem: string): SkipError {
  return new SkipError(`${problem}: delete document ${place.documentId} in the target, and run this again`);
}

/**
 * Executes a write to a document, `tries` times at the most. SkipError if the service takes no writes to the document, or if it is not
 * known what became of the write.
 */
export async function write<T extends Answered>(
  work: DocumentWork,
  facts: RowFacts,
  request: PreparedWrite<T>,
  find: Find,
  tries?: number,
): Promise<RowOutcome<T>> {
  return checked(await writeNow(work.options, { facts: ofDocument(work, facts), request, find }, tries));
}

/** The same; it yields while the service is busy. */
export async function* writing<T extends Answered>(
  work: DocumentWork,
  facts: RowFacts,
  request: PreparedWrite<T>,
  find: Find,
): Waiting<RowOutcome<T>> {
  const planned = { facts: ofDocument(work, facts), request, find };
  return checked(yield* writeOnce<T, never>(work.options, async () => planned));
}

function ofDocument({ plan }: DocumentWork, facts: RowFacts): WriteFacts {
  return { dataset_id: plan.dataset_key, document_id: plan.document_id, ...facts };
}

/** Deletes a chunk that this copy added or its stub brought. SkipError where it stays: chunks behind it would come in another order. */
export async function deleteChunk(work: DocumentWork, id: string, oldId: string | null = null): Promise<void> {
  const find = async () => ((await readChunk(work, id)) ? undefined : { ids: [id] });
  const facts = { write: "delete chunk", old_id: oldId, target_id: id } as const;
  const ended = await write(work, facts, work.options.writer.deleteChunk(work.place, id), find);
  if (ended.kind === "done" || (ended.kind === "refused" && ended.status === 404)) return;
  throw astray(work, `chunk ${id}, which has to go, could not be deleted: ${ended.reason}`);
}

function checked<T>(ended: Ended<T>): RowOutcome<T> {
  if (ended.kind === "unknown") throw new SkipError(`the outcome of a write is unknown: ${ended.reason}`);
  if (ended.kind === "refused" && ended.meaning === "document")
    throw new SkipError(`the service takes no writes to this document: ${ended.reason}`);
  return ended;
}

/** All chunks of the document in the target, in order. */
export async function readCopy({ options, place }: DocumentWork): Promise<readonly StandingChunk[]> {
  return readStandingChunks(options.api, place);
}

/** The chunks behind the first so many, in order. The list may grow meanwhile: chunks are added at its end. */
export async function readTail(
  { options, place }: { readonly place: Place; readonly options: { readonly api: Pick<KnowledgeApi, "chunks"> } },
  from: number,
): Promise<readonly StandingChunk[]> {
  const document = { ...place, status: [], keyword: undefined };
  const firstPage = Math.floor(from / pageSize) + 1;
  const tail: StandingChunk[] = [];
  for (let page = firstPage; ; page++) {
    const { rows, total } = await options.api.chunks(document, page);
    if (rows.length === total) return rows.slice(from).map(standingChunk); // older releases give everything on every page
    tail.push(...rows.map(standingChunk));
    if (rows.length < pageSize) return tail.slice(from % pageSize);
  }
}

/** A chunk of the document; undefined where it is gone. */
export async function readChunk({ options, place }: DocumentWork, id: string): Promise<StandingChunk | undefined> {
  const chunk = await ifThere(() => options.api.chunk(place, id));
  return chunk && standingChunk(chunk);
}

export interface ApplyOptions extends WriteOptions {
  /** Reads the chunks of one document of the dump that come. */
  readonly readChunks: ReadChunks;
  /** Chunks that one request adds; one for all documents of a copy, since they learn it together. */
  readonly batchSize: BatchSize;
  readonly progress: CopyProgress;
}

/** A document of the target that is being made, and the document of the dump that it is a copy of. */
export interface DocumentWork {
  readonly options: ApplyOptions;
  readonly plan: DocumentPlan;
  /** Ids at the service. */
  readonly place: { readonly datasetId: string; readonly documentId: string };
}

/** Chunks of the first request, and of the largest. */
export const [firstSize, largestSize] = [20, 200];
/** Milliseconds below which a request is quick, and above which it is slow. */
const [quick, slow] = [2_000, 20_000];

/**
 * The number of chunks that one request adds: more while the service is quick, fewer where it is slow. Each request embeds all of its
 * chunks, so nothing but its time tells how many a service takes. All documents of a copy share one.
 */
export class BatchSize {
  #size = firstSize;
  #most = largestSize;

  /** Chunks that a request adds at the most. */
  get size(): number {
    return Math.min(this.#size, this.#most);
  }

  /** A request for so many chunks was answered after so many milliseconds. One that was not full tells nothing about a larger one. */
  answered(chunks: number, milliseconds: number): void {
    if (milliseconds > slow) this.#shrink(chunks);
    else if (milliseconds < quick && chunks >= this.size) this.#size = Math.min(largestSize, this.size * 2);
  }

  /** A request for so many chunks had no answer. */
  lost(chunks: number): void {
    this.#shrink(chunks);
  }

  /** The service takes so many chunks in one request, and no more. */
  keepTo(most: number): void {
    this.#most = Math.max(1, Math.min(this.#most, most));
  }

  /** A request of before may be slow although the size has shrunk meanwhile. */
  #shrink(chunks: number): void {
    this.#size = Math.max(1, Math.min(this.size, Math.floor(chunks / 2)));
  }
}
