import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../errors.js";
import {
  type Addition,
  additionsOf,
  CopyFacts,
  type JournalFacts,
  outcomesOf,
  type WrittenRow,
  writtenRows,
} from "./journal-facts.js";
import { JournalFile, readJournal } from "./journal-file.js";
import {
  emptyFacts,
  type Intent,
  type JournalLine,
  lineSchema,
  type Made,
  type Outcome,
  type Write,
  type WriteFacts,
  type WriteRequest,
} from "./journal-lines.js";

/** The restore that a journal belongs to. */
export interface JournalId {
  /** The run whose rows are restored. */
  readonly runId: string;
  /** The service that they are restored to. */
  readonly baseUrl: string;
}

export interface JournalOptions extends JournalId {
  readonly now: () => Date;
  /** Rejects if another process has taken over: one that was frozen learns of it only by looking. */
  readonly checkOwn: () => Promise<void>;
}

/**
 * Records every write of a restore or a copy before it is sent, and what became of it. A later process learns from it what may have been
 * done. Each line is on disk when its promise resolves.
 */
export class Journal {
  readonly path: string;
  readonly #file: Pick<JournalFile, "append" | "close">;
  readonly #options: JournalOptions;
  /** The first line of this process, until it is recorded: right before the first other one. */
  #beginning: JournalLine | undefined;
  readonly #lines: JournalLine[] = [];
  /** The writes to each document, and what became of them. */
  readonly #documents = new Map<string, JournalLine[]>();
  readonly #facts = new CopyFacts();
  #writes = 0;
  /** Writes whose effect is not certain: nothing is known of them, or they may yet show up. */
  readonly #uncertain = new Map<number, Intent>();
  readonly #open = new Set<number>();
  readonly #sent = new Map<number, number>();

  constructor(path: string, file: Pick<JournalFile, "append" | "close">, options: JournalOptions) {
    this.path = path;
    this.#file = file;
    this.#options = options;
  }

  /** Takes a line that an earlier process or this one recorded. */
  take(line: JournalLine): void {
    this.#lines.push(line);
    this.#facts.take(line);
    if (line.kind === "sent") this.#sent.set(line.number, Date.parse(line.time));
    if (line.kind === "intent") {
      this.#writes = Math.max(this.#writes, line.number);
      this.#uncertain.set(line.number, line);
      this.#open.add(line.number);
    }
    if (line.kind !== "intent" && line.kind !== "outcome") return;
    this.#addToDocument(line);
    if (line.kind === "intent") return;
    this.#open.delete(line.number);
    if (line.outcome !== "not done") this.#uncertain.delete(line.number);
  }

  #addToDocument(line: Extract<JournalLine, { readonly kind: "intent" | "outcome" }>): void {
    const { document_id = null } = this.#uncertain.get(line.number) ?? {};
    if (document_id === null) return;
    const own = this.#documents.get(document_id) ?? [];
    this.#documents.set(document_id, own);
    own.push(line);
  }

  #linesOf(documentId: string): readonly JournalLine[] {
    return this.#documents.get(documentId) ?? [];
  }

  /** Writes with an unknown outcome, in their order. */
  get open(): readonly Intent[] {
    return [...this.#uncertain.values()].filter(({ number }) => this.#open.has(number));
  }

  /** Write requests that were sent, or were about to be. */
  get writes(): number {
    return this.#writes;
  }

  /** The writes of this kind to a document that count as not done, and may yet show up: also those of earlier processes. */
  mayShowUp(write: Write, documentId: string): readonly Intent[] {
    const all = [...this.#uncertain.values()];
    return all.filter((intent) => intent.write === write && intent.document_id === documentId);
  }

  /** The time at which a write was sent, in milliseconds since 1970; undefined if it was not. */
  sentAt({ number }: Pick<Intent, "number">): number | undefined {
    return this.#sent.get(number);
  }

  /** The newest dump that was made before a write; null until a journal begins, and in that of a copy. */
  get undo(): string | null {
    return this.#lines.findLast((line) => line.kind === "begun")?.undo ?? null;
  }

  /** The dump from before the first write to a document. A write that was not done changed nothing. */
  undoOf(documentId: string): string | null {
    const outcomes = outcomesOf(this.#lines);
    let undo: string | null = null;
    for (const line of this.#lines) {
      if (line.kind === "begun") undo = line.undo;
      if (line.kind !== "intent" || line.document_id !== documentId) continue;
      if ((outcomes.get(line.number)?.outcome ?? "done") === "done") return undo;
    }
    return undo;
  }

  /** The rows of the target that writes made or changed, but for those that were given up. */
  get written(): readonly WrittenRow[] {
    return writtenRows(this.#lines);
  }

  /** Chunks that writes left unindexed. */
  get unindexed(): readonly WrittenRow[] {
    return this.written.filter((row) => row.level === "chunk" && !row.is_indexed);
  }

  /** The copies at the service as far as the journal knows them. They change with every line. */
  get facts(): JournalFacts {
    return this.#facts;
  }

  /** Ids at the service of all documents that writes made, those that are gone included. */
  get madeDocuments(): ReadonlySet<string> {
    return this.#facts.made;
  }

  /** The batch of the newest copy of a document of the dump; null where no answer told it. */
  batchOf(documentId: string): string | null {
    const outcomes = this.#linesOf(documentId).filter((line) => line.kind === "outcome");
    return outcomes.findLast(({ ids }) => ids[0] === this.#facts.documents.get(documentId)?.target_id)?.batch ?? null;
  }

  /** The requests that added chunks to the newest copy of a document of the dump, or may have. */
  additions(documentId: string): readonly Addition[] {
    return additionsOf(this.#linesOf(documentId), documentId);
  }

  /**
   * Begins a journal, or continues it: its line is recorded with the first one that follows. `undo`: the folder of the dump from before
   * the writes that follow; null for a copy.
   */
  beginWith(undo: string | null): void {
    const { runId, baseUrl } = this.#options;
    this.#beginning = { kind: "begun", run_id: runId, base_url: baseUrl, undo, time: this.#time() };
  }

  /** Records a write. Only then may it be sent. */
  async intend(facts: WriteFacts, { method, path, sha256 }: WriteRequest): Promise<Intent> {
    const request = { method, path, sha256, time: this.#time() };
    const intent: Intent = { kind: "intent", number: this.#writes + 1, ...emptyFacts, ...facts, ...request };
    await this.#note(intent);
    await this.#options.checkOwn();
    return intent;
  }

  /** Records that a write is being sent. Rejects if another process has taken over: then it must not be sent. */
  async leave({ number }: Intent): Promise<void> {
    await this.#note({ kind: "sent", number, time: this.#time() });
    await this.#options.checkOwn();
  }

  /** Records what became of a write. */
  async conclude(
    { number }: Pick<Intent, "number">,
    outcome: Outcome["outcome"],
    { ids = [], batch = null, isIndexed = null }: Partial<Made> = {},
  ): Promise<void> {
    await this.#note({ kind: "outcome", number, outcome, ids, batch, indexed: isIndexed, time: this.#time() });
  }

  /** Records that a chunk in the target is not ours to repair any more. */
  giveUp(id: string): Promise<void> {
    return this.#note({ kind: "given up", id, time: this.#time() });
  }

  /** Records that a dataset of the target takes the documents of the plan with this key. */
  noteDataset(key: string, { id, name }: { readonly id: string; readonly name: string }): Promise<void> {
    return this.#note({ kind: "adopted", dataset_id: key, id, name, time: this.#time() });
  }

  /** Records that the copy of a document of the dump is complete. */
  finish(documentId: string): Promise<void> {
    return this.#note({ kind: "restored", document_id: documentId, time: this.#time() });
  }

  /** Records that the copy of a dataset, by its key, or of a document is gone from the target; with a dataset, its documents are gone. */
  forget(oldId: string): Promise<void> {
    return this.#note({ kind: "forgotten", old_id: oldId, time: this.#time() });
  }

  /** Ends the journal, if it began, unless a later restore has to learn what became of a write, or to repair a chunk. */
  async end(): Promise<void> {
    const hasBegun = this.#lines.length > 0 || this.#beginning !== undefined;
    if (hasBegun && this.#open.size === 0 && this.unindexed.length === 0)
      await this.#note({ kind: "end", time: this.#time() });
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #time(): string {
    return this.#options.now().toISOString();
  }

  /** Records a line. Several may be recorded at once: each is taken and handed to the file before the next. */
  async #note(line: JournalLine): Promise<void> {
    const lines = this.#beginning ? [this.#beginning, line] : [line];
    this.#beginning = undefined;
    await Promise.all(
      lines.map((each) => {
        this.take(each);
        return this.#file.append(each);
      }),
    );
  }
}

interface OpenOptions extends JournalOptions {
  /** Whether a journal that is there is replaced, as one that ended is. */
  readonly another?: boolean;
}

/**
 * Opens the journal of a folder, and makes the folder: continues a journal that did not end; with its first line, a new one replaces one
 * that did, which is kept under the time that it began. StopError if it is damaged, no journal, or that of another run or service.
 */
export async function openJournal(folder: string, { another = false, ...options }: OpenOptions): Promise<Journal> {
  const path = join(folder, fileName);
  const { lines, open } = await readJournal(path, lineSchema);
  await mkdir(folder, { recursive: true });
  const [first] = lines;
  const { checkOwn } = options;
  if (first && (another || lines.at(-1)?.kind === "end"))
    return new Journal(path, new JournalFile(path, { checkOwn, replaces: first.time }), options);
  refuseOther(lines, options, path);
  const journal = new Journal(path, await open(checkOwn), options);
  for (const line of lines) journal.take(line);
  return journal;
}

/** The copies that the journal of a folder knows; none if there is no journal. StopError as in `openJournal`. Changes nothing. */
export async function readJournalFacts(folder: string, id: JournalId): Promise<JournalFacts> {
  const path = join(folder, fileName);
  const { lines } = await readJournal(path, lineSchema);
  refuseOther(lines, id, path);
  const facts = new CopyFacts();
  for (const line of lines) facts.take(line);
  const { datasets, documents, attachments, isBegun } = facts;
  return { datasets, documents, attachments, isBegun };
}

const fileName = "journal.jsonl";

function refuseOther(lines: readonly JournalLine[], { runId, baseUrl }: JournalId, path: string): void {
  for (const line of lines) {
    if (line.kind !== "begun" || (line.base_url === baseUrl && line.run_id === runId)) continue;
    throw new StopError(
      `${path}: this is the journal of a restore of run ${line.run_id} to ${line.base_url} that did not end, and not of run ${runId} to ${baseUrl}: check the base URL; finish that restore first, or move this file to another folder`,
    );
  }
}
