import { JournalFile } from "../journal/journal-file.js";
import type { Intent, IntentFacts, IntentOutcome, JournalLine } from "./journal-lines.js";
import { type WrittenRow, writtenRows } from "./written-rows.js";

export interface JournalOptions {
  /** The run whose rows are brought back. */
  readonly runId: string;
  /** The service that they are brought back to. */
  readonly baseUrl: string;
  readonly now?: () => Date;
  /** Rejects when another process has taken the place of this one: one that was frozen does not know it. */
  readonly checkOwn?: () => Promise<void>;
}

/** Notes every write before it is sent, and what became of it, on disk. A later process learns from it what may have been done. */
export class Journal {
  readonly #file: JournalFile;
  readonly #options: JournalOptions;
  readonly #intents = new Map<number, Intent>();
  readonly #sent = new Map<number, number>();
  readonly #outcomes = new Map<number, IntentOutcome>();
  /** The dump that was made before each write, by its number. */
  readonly #undos = new Map<number, string>();
  readonly #givenUp = new Set<string>();
  #undo: string | null = null;

  constructor(path: string, options: JournalOptions, lines: readonly JournalLine[]) {
    this.#file = new JournalFile(path, options.checkOwn);
    this.#options = options;
    for (const line of lines) this.#take(line);
  }

  /** The newest dump that was made before a write; null until a journal begins. */
  get undo(): string | null {
    return this.#undo;
  }

  /** The dump from before the first write to a document. A write that was not done changed nothing. */
  undoOf(documentId: string): string | null {
    const isDone = ({ number }: Intent) => (this.#outcomes.get(number)?.outcome ?? "done") === "done";
    const first = [...this.#intents.values()].find((intent) => intent.document_id === documentId && isDone(intent));
    return (first && this.#undos.get(first.number)) ?? this.#undo;
  }

  /** Writes of which nobody knows what became. */
  get open(): readonly Intent[] {
    return [...this.#intents.values()].filter(({ number }) => !this.#outcomes.has(number));
  }

  /** Adds of chunks whose answer never came: the service may still carry them out. */
  get openAdds(): readonly Intent[] {
    return this.open.filter(isChunkAdd);
  }

  /** Write requests that were sent, or were about to be. */
  get writes(): number {
    return this.#intents.size;
  }

  /** The rows of the target that writes made or changed, but for those that were given up. */
  get written(): readonly WrittenRow[] {
    return writtenRows([...this.#intents.values()], this.#outcomes).filter(({ id }) => !this.#givenUp.has(id));
  }

  /** Chunks that writes left unindexed. */
  get unindexed(): readonly WrittenRow[] {
    return this.written.filter((row) => row.level === "chunk" && !row.is_indexed);
  }

  /** Begins a journal, or goes on with it, with the folder of the dump from before the writes that follow. */
  async begin(undo: string): Promise<void> {
    const { runId, baseUrl } = this.#options;
    await this.#note({ kind: "begun", run_id: runId, base_url: baseUrl, undo, time: this.#time() });
  }

  /** Notes a write. It is on disk when this resolves: only then may it be sent. */
  async intend(facts: IntentFacts): Promise<Intent> {
    const intent = { kind: "intent", number: this.#intents.size + 1, ...facts, time: this.#time() } as const;
    await this.#note(intent);
    await this.#options.checkOwn?.();
    return intent;
  }

  /** Records that a write is being sent. Rejects if another process has taken over: then it must not be sent. */
  async leave({ number }: Intent): Promise<void> {
    await this.#note({ kind: "sent", number, time: this.#time() });
    await this.#options.checkOwn?.();
  }

  /** The time at which a write was sent, in milliseconds since 1970; undefined if it was not. */
  sentAt({ number }: Intent): number | undefined {
    return this.#sent.get(number);
  }

  /** Notes what became of a write. */
  async conclude(
    { number }: Intent,
    outcome: IntentOutcome["outcome"],
    row: { readonly id: string; readonly isIndexed: boolean } | null = null,
  ): Promise<void> {
    const { id, isIndexed: indexed } = row ?? { id: null, isIndexed: true };
    await this.#note({ kind: "outcome", number, outcome, id, indexed, time: this.#time() });
  }

  /** Notes that a chunk in the target is not ours to repair any more. */
  async giveUp(id: string): Promise<void> {
    await this.#note({ kind: "given up", id, time: this.#time() });
  }

  /** Ends the journal, unless a later restore has to learn what became of a write, or to repair a chunk: then that one goes on with it. */
  async end(): Promise<void> {
    if (this.#undo === null || this.open.length > 0 || this.unindexed.length > 0) return;
    await this.#note({ kind: "end", time: this.#time() });
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #time(): string {
    return (this.#options.now?.() ?? new Date()).toISOString();
  }

  #take(line: JournalLine): void {
    if (line.kind === "begun") this.#undo = line.undo;
    if (line.kind === "intent") {
      this.#intents.set(line.number, line);
      this.#undos.set(line.number, this.#undo ?? "");
      if (line.target_id !== null) this.#givenUp.delete(line.target_id); // a later plan writes it again
    }
    if (line.kind === "sent") this.#sent.set(line.number, Date.parse(line.time));
    if (line.kind === "outcome") this.#outcomes.set(line.number, line);
    if (line.kind === "given up") this.#givenUp.add(line.id);
  }

  #note(line: JournalLine): Promise<void> {
    this.#take(line);
    return this.#file.append(line);
  }
}

/** The service may carry out an add of a chunk long after it was sent: it waits for the lock of the document. */
export function isChunkAdd({ level, action }: Pick<Intent, "level" | "action">): boolean {
  return level === "chunk" && action === "add";
}
