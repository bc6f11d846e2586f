import type { Place } from "../../client/knowledge-api.js";
import type { Writer } from "../../client/write/writer.js";
import type { ChunkRow, ChunkWithChildren } from "../../compare/document-rows.js";
import type { RowDifference } from "../../compare/proof/prove.js";
import { SkipError } from "../../errors.js";
import { plannedWrite } from "../reconcile.js";
import type { RowPlace, RowWrite } from "../row-writes.js";
import {
  type Answered,
  type Ended,
  type Find,
  madeBy,
  type PlannedWrite,
  type Waiting,
  type WriteOptions,
  writeNow,
  writeOnce,
} from "../write-once.js";
import type { DocumentPlan } from "./copy-plan.js";
import type { ReadChunks } from "./read-dump.js";

export interface ApplyOptions extends WriteOptions {
  /** Reads the chunks to copy of one document of the dump. */
  readonly readChunks: ReadChunks;
}

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
export class DocumentCopy implements RowPlace {
  readonly options: ApplyOptions;
  readonly plan: DocumentPlan;
  readonly place: Place;
  readonly writer: Writer;
  readonly docForm: string;
  /** Rows that were not copied although the plan announced no loss. */
  readonly failed: RowDifference[];
  /** Ids of the chunks of the target that are copies. */
  readonly ids = new Set<string>();

  /** `place`: ids at the service. */
  constructor(options: ApplyOptions, plan: DocumentPlan, place: Place, failed: RowDifference[] = []) {
    this.options = options;
    this.plan = plan;
    this.place = place;
    this.failed = failed;
    this.writer = options.writer;
    this.docForm = plan.doc_form;
  }

  /** Notes a chunk that was not copied completely. */
  fail({ id, position }: Pick<ChunkRow, "id" | "position">, reason: string): void {
    this.failed.push({ level: "chunk", id, position, reason });
  }

  /**
   * Executes a write to the document; `find` and `tries` as in `writeOnce`. Throws SkipError if the service accepts no writes to the
   * document, or if the outcome of the write is unknown.
   */
  async write<T extends Answered>(row: RowWrite<T>, find?: Find, tries?: number): Promise<RowOutcome<T>> {
    return checked(await writeNow(this.options, this.#planned(row, find), tries));
  }

  /** Like `write`, but yields while the service is busy. */
  async *writing<T extends Answered>(row: RowWrite<T>): Waiting<RowOutcome<T>> {
    return checked(yield* writeOnce<T, never>(this.options, async () => this.#planned(row)));
  }

  #planned<T>({ facts, request }: RowWrite<T>, find?: Find): PlannedWrite<T> {
    const { dataset_key: dataset_id, document_id } = this.plan;
    const planned = plannedWrite({ dataset_id, document_id, ...facts }, request, this.place, this.options);
    return find ? { ...planned, find } : planned;
  }

  /** Deletes a chunk of this copy or its stub. Throws SkipError if it stays, because chunks after it would be in the wrong order. */
  async deleteChunk(id: string, oldId: string | null = null): Promise<void> {
    const facts = { write: "delete chunk", old_id: oldId, target_id: id } as const;
    const ended = await this.write({ facts, request: this.writer.deleteChunk(this.place, id) });
    const problem = whyNotDeleted(ended);
    if (problem !== null) throw this.astray(`chunk ${id}, which has to go, could not be deleted: ${problem}`);
    this.ids.delete(id);
  }

  /** An error that tells the owner what to do about a document that changed since this copy wrote it. */
  astray(problem: string): SkipError {
    return new SkipError(`${problem}: delete document ${this.place.documentId} in the target, and run this again`);
  }
}

/** Sends a write to a dataset; returns the ids of the objects that it made. `deed`: what the write does, for the SkipError if it fails. */
export async function writeToDataset<T extends Answered>(
  { facts, request }: Omit<PlannedWrite<T>, "find">,
  datasetId: string,
  deed: string,
  options: WriteOptions,
): Promise<readonly string[]> {
  const planned = plannedWrite(facts, request, { datasetId, documentId: "" }, options);
  return madeBy(await writeNow(options, planned), deed);
}

/** Why a write did not delete its row; null if the row is gone. */
export function whyNotDeleted(ended: RowOutcome<unknown>): string | null {
  const isGone = ended.kind === "done" || (ended.kind === "refused" && ended.status === 404);
  return isGone ? null : ended.reason;
}

function checked<T>(ended: Ended<T>): RowOutcome<T> {
  if (ended.kind === "unknown") throw new SkipError(`the outcome of a write is unknown: ${ended.reason}`);
  if (ended.kind === "refused" && ended.meaning === "document")
    throw new SkipError(`the service accepts no writes to this document: ${ended.reason}`);
  return ended;
}
