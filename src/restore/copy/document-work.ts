import { type KnowledgeApi, type Place, pageSize } from "../../client/knowledge-api.js";
import type { Writer } from "../../client/write/writer.js";
import type { ChunkRow, ChunkWithChildren } from "../../compare/document-rows.js";
import { SkipError } from "../../errors.js";
import { plannedWrite } from "../reconcile.js";
import type { RowDifference } from "../result.js";
import type { RowPlace, RowWrite } from "../row-writes.js";
import { ifThere, type StandingChunk, standingChunk } from "../target-rows.js";
import {
  type Answered,
  type Ended,
  type Find,
  type PlannedWrite,
  type Waiting,
  type WriteOptions,
  writeNow,
  writeOnce,
} from "../write-once.js";
import type { DocumentPlan } from "./copy-plan.js";
import type { CopyProgress } from "./copy-result.js";
import type { ReadChunks } from "./read-dump.js";

/** A chunk of the target, and the chunk of the dump that it copies. */
export interface ChunkCopy {
  readonly row: ChunkWithChildren;
  readonly id: string;
  readonly enabled: boolean;
  readonly attachment_ids: readonly string[];
}

/** The outcome of a write, if work on the document continues. */
export type RowOutcome<T> = Exclude<Ended<T>, { readonly kind: "unknown" }>;

/** A document of the target that receives the rows of a document of the dump. */
export class DocumentCopy implements DocumentWork, RowPlace {
  readonly options: ApplyOptions;
  readonly plan: DocumentPlan;
  readonly place: Place;
  readonly writer: Writer;
  readonly docForm: string;
  /** The chunks to copy, in the order of the dump: their numbers in the journal are their indexes here. */
  readonly planned: PlannedChunks;
  /** Rows that were not copied. */
  readonly failed: RowDifference[] = [];
  /** Ids of the chunks of the target that are copies. */
  readonly ids = new Set<string>();

  constructor({ options, plan, place }: DocumentWork) {
    this.options = options;
    this.plan = plan;
    this.place = place;
    this.writer = options.writer;
    this.docForm = plan.doc_form;
    this.planned = new PlannedChunks(options.readChunks(plan));
  }

  /** Whether chunks have children, in the dump or made by the service. */
  get hasChildren(): boolean {
    return this.plan.children > 0 || this.docForm === "hierarchical_model";
  }

  fail(level: RowDifference["level"], { id, position }: Pick<ChunkRow, "id" | "position">, reason: string): void {
    this.failed.push({ level, id, position, reason });
  }
}

/** The chunks to copy, read once from first to last: only the next ones are in memory. */
class PlannedChunks {
  readonly #left: AsyncIterator<ChunkWithChildren>;
  /** The number of the first chunk in memory. */
  #first = 0;
  #ahead: ChunkWithChildren[] = [];

  constructor(chunks: AsyncIterable<ChunkWithChildren>) {
    this.#left = chunks[Symbol.asyncIterator]();
  }

  /** Returns up to `most` chunks from number `from` on. Earlier chunks can no longer be read. */
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

/** An error that tells the owner what to do about a document that changed since this copy wrote it. */
export function astray({ place }: DocumentWork, problem: string): SkipError {
  return new SkipError(`${problem}: delete document ${place.documentId} in the target, and run this again`);
}

interface WriteRules {
  /** Default: the facts of the write prove it. */
  readonly find?: Find;
  readonly tries?: number;
}

/**
 * Executes a write to a document, sending it at most `tries` times. Throws SkipError if the service accepts no writes to the
 * document, or if the outcome of the write is unknown.
 */
export async function write<T extends Answered>(
  work: DocumentWork,
  row: RowWrite<T>,
  { find, tries }: WriteRules = {},
): Promise<RowOutcome<T>> {
  const planned = plannedRow(work, row);
  return checked(await writeNow(work.options, find ? { ...planned, find } : planned, tries));
}

/** Like `write`, but yields while the service is busy. */
export async function* writing<T extends Answered>(work: DocumentWork, row: RowWrite<T>): Waiting<RowOutcome<T>> {
  return checked(yield* writeOnce<T, never>(work.options, async () => plannedRow(work, row)));
}

function plannedRow<T>({ options, plan, place }: DocumentWork, { facts, request }: RowWrite<T>): PlannedWrite<T> {
  const { dataset_key: dataset_id, document_id } = plan;
  return plannedWrite({ dataset_id, document_id, ...facts }, request, place, options);
}

/** Deletes a chunk of this copy or its stub. Throws SkipError if it stays, because chunks after it would be in the wrong order. */
export async function deleteChunk(work: DocumentWork, id: string, oldId: string | null = null): Promise<void> {
  const facts = { write: "delete chunk", old_id: oldId, target_id: id } as const;
  const ended = await write(work, { facts, request: work.options.writer.deleteChunk(work.place, id) });
  if (ended.kind === "done" || (ended.kind === "refused" && ended.status === 404)) return;
  throw astray(work, `chunk ${id}, which has to go, could not be deleted: ${ended.reason}`);
}

function checked<T>(ended: Ended<T>): RowOutcome<T> {
  if (ended.kind === "unknown") throw new SkipError(`the outcome of a write is unknown: ${ended.reason}`);
  if (ended.kind === "refused" && ended.meaning === "document")
    throw new SkipError(`the service accepts no writes to this document: ${ended.reason}`);
  return ended;
}

/** The chunks after the first `from`, in order. The list may grow during the read: chunks are added at its end. */
export async function readTail(
  { options, place }: { readonly place: Place; readonly options: { readonly api: Pick<KnowledgeApi, "chunks"> } },
  from: number,
): Promise<readonly StandingChunk[]> {
  const document = { ...place, status: [], keyword: undefined };
  const firstPage = Math.floor(from / pageSize) + 1;
  const tail: StandingChunk[] = [];
  for (let page = firstPage; ; page++) {
    const { rows, total } = await options.api.chunks(document, page);
    if (rows.length === total) return rows.slice(from).map(standingChunk); // older releases return everything on every page
    tail.push(...rows.map(standingChunk));
    if (rows.length < pageSize) return tail.slice(from % pageSize);
  }
}

/** A chunk of the document; undefined if it is gone. */
export async function readChunk({ options, place }: DocumentWork, id: string): Promise<StandingChunk | undefined> {
  const chunk = await ifThere(() => options.api.chunk(place, id));
  return chunk && standingChunk(chunk);
}

export interface ApplyOptions extends WriteOptions {
  /** Reads the chunks to copy of one document of the dump. */
  readonly readChunks: ReadChunks;
  /** Chunks per request; all documents of a copy share it, so that they learn together. */
  readonly batchSize: BatchSize;
  readonly progress: CopyProgress;
}

/** A document of the target in progress, and the plan of its document of the dump. */
export interface DocumentWork {
  readonly options: ApplyOptions;
  readonly plan: DocumentPlan;
  /** Ids at the service. */
  readonly place: Place;
}

/** Chunks of the first request, and the maximum. */
export const [firstSize, largestSize] = [20, 200];
/** A request is quick below the first and slow above the second duration, in milliseconds. */
const [quick, slow] = [2_000, 20_000];

/**
 * The number of chunks per request: more while the service is quick, fewer when it is slow. Each request embeds all of its
 * chunks, so only its duration shows how many a service can handle. All documents of a copy share one instance.
 */
export class BatchSize {
  #size = firstSize;
  #most = largestSize;

  /** Maximum chunks of a request. */
  get size(): number {
    return Math.min(this.#size, this.#most);
  }

  /** A request for this many chunks was answered after this many milliseconds. A smaller request says nothing about a larger one. */
  answered(chunks: number, milliseconds: number): void {
    if (milliseconds > slow) this.#shrink(chunks);
    else if (milliseconds < quick && chunks >= this.size) this.#size = Math.min(largestSize, this.size * 2);
  }

  /** A request for this many chunks had no answer. */
  lost(chunks: number): void {
    this.#shrink(chunks);
  }

  /** The service accepts at most this many chunks in one request. */
  keepTo(most: number): void {
    this.#most = Math.max(1, Math.min(this.#most, most));
  }

  /** Halves the size of the slow request, because the current size may be smaller by now. */
  #shrink(chunks: number): void {
    this.#size = Math.max(1, Math.min(this.size, Math.floor(chunks / 2)));
  }
}
