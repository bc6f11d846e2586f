import { type KnowledgeApi, pageSize } from "../../../client/knowledge-api.js";
import type { PreparedWrite } from "../../../client/write/operations.js";
import type { ChildRow, ChunkRow, DocumentRows } from "../../../compare/document-rows.js";
import { SkipError } from "../../../errors.js";
import { type Place, readStandingChunks, type StandingChunk, standingChunk } from "../../apply/row-texts.js";
import { meaningOf } from "../../apply/write-row.js";
import type { DocumentWork } from "../apply/apply-options.js";
import { type Answered, type ExecutedWrite, executeWrite, type Find, type WriteFacts } from "../apply/execute-write.js";
import { canCome, childCanCome } from "../copy-plan.js";
import type { FailedRow } from "../copy-result.js";

/** The facts of a write to a document, but for those that are the same for all of them. */
type RowFacts = Omit<WriteFacts, "dataset_id" | "document_id">;

/** A chunk of the target, and the chunk of the dump that it is a copy of. */
export interface ChunkCopy {
  readonly row: ChunkRow;
  readonly id: string;
  readonly enabled: boolean;
  readonly attachment_ids: readonly string[];
}

/** The outcome of a write to a document that goes on. */
export type RowOutcome<T> = Exclude<ExecutedWrite<T>, { readonly kind: "unknown" }>;

/** A document of the target that takes the rows of one of the dump. */
export class DocumentCopy {
  readonly work: DocumentWork;
  /** The chunks that come, in the order of the dump: their numbers in the journal are their places here. */
  readonly planned: readonly ChunkRow[];
  /** Rows that did not come. */
  readonly failed: FailedRow[] = [];
  /** Ids of the chunks of the target that are copies. */
  readonly ids = new Set<string>();
  readonly #children = new Map<string, ChildRow[]>();
  readonly #hasChildren: boolean;

  constructor(work: DocumentWork, { chunks, children }: DocumentRows) {
    this.work = work;
    this.planned = chunks.filter((chunk) => canCome(chunk, work.plan.doc_form));
    for (const child of children.filter(childCanCome)) {
      const siblings = this.#children.get(child.segment_id) ?? [];
      siblings.push(child);
      this.#children.set(child.segment_id, siblings);
    }
    this.#hasChildren = children.length > 0 || work.plan.doc_form === "hierarchical_model";
  }

  /** Whether chunks have children, in the dump or because the service makes them. */
  get hasChildren(): boolean {
    return this.#hasChildren;
  }

  /** The children that come below a chunk of the dump, in order. */
  childrenOf(chunkId: string): readonly ChildRow[] {
    return this.#children.get(chunkId) ?? [];
  }

  fail(level: FailedRow["level"], { id, position }: Pick<ChunkRow, "id" | "position">, reason: string): void {
    this.failed.push({ level, id, position, reason });
  }

  /**
   * Executes a write, `tries` times at the most. SkipError if the service takes no writes to the document, or if it is not known
   * what became of the write.
   */
  async execute<T extends Answered>(
    facts: RowFacts,
    write: PreparedWrite<T>,
    find: Find,
    tries?: number,
  ): Promise<RowOutcome<T>> {
    const { options, plan } = this.work;
    const { dataset_key, document_id } = plan;
    const executed = await executeWrite(
      options,
      { dataset_id: dataset_key, document_id, ...facts },
      write,
      find,
      tries,
    );
    if (executed.kind === "unknown") throw new SkipError(`the outcome of a write is unknown: ${executed.reason}`);
    if (executed.kind === "refused" && meaningOf(executed) === "document") {
      throw new SkipError(`the service takes no writes to this document: ${executed.reason}`);
    }
    return executed;
  }

  /** An error that says what the owner can do about a document that is not as this move left it. */
  astray(problem: string): SkipError {
    const { documentId } = this.work.place;
    const advice = `delete document ${documentId} in the target, and run this again with --retry-failed`;
    return new SkipError(`${problem}: ${advice}`);
  }
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
  try {
    return standingChunk(await options.api.chunk(place, id));
  } catch (error) {
    if (error instanceof SkipError && error.status === 404) return undefined;
    throw error;
  }
}
