import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { StopError } from "../../errors.js";
import { count, listOf, oneOf, text } from "../../schema.js";
import { JournalFile, readJournal, sentLine, setAside } from "../journal-file.js";

export interface JournalOptions {
  /** The run whose rows are restored. */
  readonly runId: string;
  /** The service that they are restored to. */
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

  /** Writes with an unknown outcome. */
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

const fileName = "journal.jsonl";

/**
 * Opens the journal of a folder: goes on with one that did not end, and sets one that did aside under the time it began. StopError
 * if it is damaged or no journal, or if one that did not end belongs to another service.
 */
export async function openJournal(folder: string, options: JournalOptions): Promise<Journal> {
  const path = join(folder, fileName);
  const { lines, makeReady } = await readJournal(path, lineSchema);
  await mkdir(folder, { recursive: true });
  const [first] = lines;
  if (first && lines.at(-1)?.kind === "end") {
    await setAside(path, first.time);
    return new Journal(path, options, []);
  }
  if (first?.kind === "begun") refuseOther(first, options, path);
  await makeReady();
  return new Journal(path, options, lines);
}

function refuseOther(first: Begun, { runId, baseUrl }: JournalOptions, path: string): void {
  if (first.base_url === baseUrl && first.run_id === runId) return;
  const other = first.base_url === baseUrl ? `run ${first.run_id}` : first.base_url;
  throw new StopError(
    `${path}: a restore to ${other} did not end, and this one is to ${baseUrl}: finish that one first, or move its journal away`,
  );
}

const textOrNull = v.nullable(text);

/** The first line, and one for each process that goes on: the restore that the journal belongs to. */
const begun = v.object({
  kind: v.literal("begun"),
  run_id: text,
  base_url: text,
  /** The folder of the dump that was made before the writes that follow. */
  undo: text,
  time: text,
});

/** A write that waits for its turn to be sent. Texts are stored as hashes only. */
const intent = v.object({
  kind: v.literal("intent"),
  number: count,
  dataset_id: text,
  document_id: text,
  level: oneOf("chunk", "child_chunk"),
  /** A chunk that was stored and not indexed is touched, which changes its text a little, and then repaired. */
  action: oneOf("add", "update", "disable", "touch", "repair"),
  /** Id of the row in the older run. */
  old_id: text,
  /** Id of the row in the target; null where one is added. */
  target_id: textOrNull,
  /** The chunk of a child chunk, in the target. */
  parent_id: textOrNull,
  method: text,
  path: text,
  /** SHA-256 of the body. */
  sha256: text,
  /** SHA-256 of the new texts of the row; null if it is only disabled. */
  texts_sha256: textOrNull,
  /** SHA-256 of its new keywords; null if the service chooses them. */
  keywords_sha256: textOrNull,
  /** Ids of the rows that say the same before the write. */
  equal: listOf(text),
  time: text,
});

/** The outcome of a write; of two with one number, the later holds. */
const outcome = v.object({
  kind: v.literal("outcome"),
  number: count,
  outcome: oneOf("done", "refused", "not done"),
  /** Id of the row in the target. */
  id: textOrNull,
  /** Whether the service indexed the chunk; one that it did not is disabled and has the status error. */
  indexed: v.boolean("true or false"),
  time: text,
});

/** A chunk that is not to be repaired any more: it is gone, or somebody gave it another text. */
const given = v.object({ kind: v.literal("given up"), id: text, time: text });

const end = v.object({ kind: v.literal("end"), time: text });

const lineSchema = v.variant(
  "kind",
  [begun, intent, sentLine, outcome, given, end],
  "begun, intent, sent, outcome, given up or end",
);

type JournalLine = v.InferOutput<typeof lineSchema>;
type Begun = Readonly<v.InferOutput<typeof begun>>;
export type Intent = Readonly<v.InferOutput<typeof intent>>;
type IntentOutcome = Readonly<v.InferOutput<typeof outcome>>;
export type IntentFacts = Omit<Intent, "kind" | "number" | "time">;

/** A row of the target that writes of a restore made or changed, and what it must be now. */
export interface WrittenRow {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly level: Intent["level"];
  /** Id in the target. */
  readonly id: string;
  /** Id in the older run. */
  readonly old_id: string;
  /** The chunk of a child chunk, in the target. */
  readonly parent_id: string | null;
  readonly is_added: boolean;
  /** Null where only its state was changed. */
  readonly texts_sha256: string | null;
  readonly keywords_sha256: string | null;
  readonly is_disabled: boolean;
  /** False for a chunk that the service could not index, until it is repaired: else it is reported as failed. */
  readonly is_indexed: boolean;
}

type Done = IntentOutcome & { readonly id: string };

/** The rows that writes made or changed, in the order of their first write; of several writes to one row, the later adds to the earlier. */
function writtenRows(intents: readonly Intent[], outcomes: ReadonlyMap<number, IntentOutcome>): readonly WrittenRow[] {
  const rows = new Map<string, WrittenRow>();
  for (const intent of intents) {
    const outcome = outcomes.get(intent.number);
    if (outcome?.outcome !== "done" || outcome.id === null) continue;
    const name = `${intent.level} ${outcome.id}`;
    rows.set(name, rowAfter(rows.get(name), intent, { ...outcome, id: outcome.id }));
  }
  return [...rows.values()];
}

function rowAfter(before: WrittenRow | undefined, intent: Intent, { id, indexed }: Done): WrittenRow {
  const { dataset_id, document_id, level, action, old_id, parent_id } = intent;
  const isTouched = action === "touch";
  return {
    dataset_id,
    document_id,
    level,
    id,
    old_id,
    parent_id,
    is_added: before?.is_added === true || action === "add",
    texts_sha256: (isTouched ? null : intent.texts_sha256) ?? before?.texts_sha256 ?? null,
    keywords_sha256: intent.keywords_sha256 ?? before?.keywords_sha256 ?? null,
    is_disabled: action === "disable",
    is_indexed: !isTouched && (action === "disable" ? (before?.is_indexed ?? true) : indexed),
  };
}
