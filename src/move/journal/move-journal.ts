import type { JournalFacts } from "../journal-facts.js";
import type { MoveFrom } from "../move-plan.js";
import { type Addition, additionsOf } from "./additions-of.js";
import { GrowingFacts } from "./growing-facts.js";
import type { Intent, IntentFacts, IntentOutcome, JournalLine } from "./journal-lines.js";

/** Appends one line after the other, each on disk when it resolves. */
export interface LineWriter {
  readonly append: (line: object) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface MoveJournalOptions {
  readonly runId: string;
  readonly baseUrl: string;
  readonly from: MoveFrom;
  readonly now: () => Date;
  /** Rejects when another process has taken the place of this one: one that was frozen does not know it. */
  readonly checkOwn: () => Promise<void>;
}

/** Notes every write of a move before it is sent, and what became of it. A later process learns from it what may have been done. */
export class MoveJournal {
  readonly path: string;
  readonly #file: LineWriter;
  readonly #options: MoveJournalOptions;
  readonly #facts = new GrowingFacts();
  /** The writes to each document of the dump, and what became of them. */
  readonly #documents = new Map<string, JournalLine[]>();
  #hasBegun = false;

  constructor(path: string, file: LineWriter, options: MoveJournalOptions, lines: readonly JournalLine[]) {
    this.path = path;
    this.#file = file;
    this.#options = options;
    for (const line of lines) this.#take(line);
  }

  /** The state of the target as far as the journal knows it. It changes with every line. */
  get facts(): JournalFacts {
    return this.#facts;
  }

  /** Writes of which nobody knows what became, in their order. */
  get open(): readonly Intent[] {
    return this.#facts.open;
  }

  /** Write requests that were sent, or were about to be. */
  get writes(): number {
    return this.#facts.writes;
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

  /** Whether a write of this kind to a document of the dump counts as not done, and may yet show up: also one of an earlier process. */
  mayShowUp(write: Intent["write"], documentId: string): boolean {
    return this.#facts.mayShowUp(write, documentId);
  }

  /** The requests that added chunks to the newest copy of a document of the dump, or may have. */
  additions(documentId: string): readonly Addition[] {
    return additionsOf(this.#linesOf(documentId), documentId);
  }

  /** Notes that a dataset of the target takes the documents of the plan with this key. */
  async adopt(key: string, target: { readonly id: string; readonly name: string }): Promise<void> {
    await this.#note({ kind: "adopted", dataset_id: key, id: target.id, name: target.name, time: this.#time() });
  }

  /** Notes a write. It is on disk when this resolves: only then may it be sent. */
  async intend(facts: IntentFacts): Promise<Intent> {
    const intent = { kind: "intent", number: this.writes + 1, ...facts, time: this.#time() } as const;
    await this.#note(intent);
    await this.#options.checkOwn();
    return intent;
  }

  /** Records that a write is being sent. Rejects if another process has taken over: then it must not be sent. */
  async leave({ number }: Intent): Promise<void> {
    await this.#note({ kind: "sent", number, time: this.#time() });
    await this.#options.checkOwn();
  }

  /** The time at which a write was sent, in milliseconds since 1970; undefined if it was not. */
  sentAt(intent: Intent): number | undefined {
    return this.#facts.sentAt(intent);
  }

  /** Notes what became of a write. */
  async conclude(
    { number }: Intent,
    outcome: IntentOutcome["outcome"],
    { ids = [], batch = null }: { readonly ids?: readonly string[]; readonly batch?: string | null } = {},
  ): Promise<void> {
    await this.#note({ kind: "outcome", number, outcome, ids: [...ids], batch, time: this.#time() });
  }

  /** Notes that this process is done with a document of the dump. */
  async finish(documentId: string, state: "restored" | "failed", reason: string | null): Promise<void> {
    await this.#note({ kind: "document", document_id: documentId, state, reason, time: this.#time() });
  }

  /** Notes that the copy of a dataset, by its key, or of a document is gone from the target; with a dataset, its documents are gone. */
  async forget(oldId: string): Promise<void> {
    await this.#note({ kind: "forgotten", old_id: oldId, time: this.#time() });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #time(): string {
    return this.#options.now().toISOString();
  }

  #linesOf(documentId: string): readonly JournalLine[] {
    return this.#documents.get(documentId) ?? [];
  }

  #take(line: JournalLine): void {
    const { document_id = null } = this.#facts.take(line) ?? {};
    if (document_id === null) return;
    const own = this.#documents.get(document_id);
    if (own) own.push(line);
    else this.#documents.set(document_id, [line]);
  }

  /** Several lines may be noted at once: each is taken and handed to the file before the next. */
  async #note(line: JournalLine): Promise<void> {
    const written: Promise<void>[] = [];
    if (!this.#hasBegun) written.push(this.#write(this.#begun()));
    this.#hasBegun = true;
    written.push(this.#write(line));
    await Promise.all(written);
  }

  #begun(): JournalLine {
    const { runId, baseUrl, from } = this.#options;
    return { kind: "begun", run_id: runId, base_url: baseUrl, from, time: this.#time() };
  }

  #write(line: JournalLine): Promise<void> {
    this.#take(line);
    return this.#file.append(line);
  }
}
