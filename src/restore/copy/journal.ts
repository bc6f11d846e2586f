import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../../errors.js";
import { JournalFile, readJournal, setAside } from "../journal-file.js";
import type { CopySource, EarlierDocument } from "./copy-plan.js";
import type { JournalFacts, TargetDataset } from "./copy-result.js";
import { type Intent, type IntentFacts, type IntentOutcome, type JournalLine, lineSchema } from "./journal-lines.js";

const fileName = "journal.jsonl";

/** The run that is restored, and the service that it is restored to. */
type CopyId = Pick<CopyJournalOptions, "runId" | "baseUrl">;

/**
 * The state of a target that the journal of a folder tells; no facts where there is none. StopError where it is damaged or no journal,
 * or belongs to another run or service. Changes nothing.
 */
export async function readJournalFacts(folder: string, move: CopyId): Promise<JournalFacts> {
  const path = join(folder, fileName);
  const { lines } = await readJournal(path, lineSchema);
  const facts = new GrowingFacts();
  for (const line of lines) {
    refuseOther(line, move, path);
    facts.take(line);
  }
  const { datasets, documents, attachments, from } = facts;
  return { datasets, documents, attachments, from };
}

export interface OpenOptions extends CopyJournalOptions {
  /** Whether another copy is made: with the first line, a journal that is there is set aside under the time it began. */
  readonly another: boolean;
}

/**
 * Opens the journal of a folder, which is made if there is none, and continues it. StopError where it is damaged or no journal, or
 * belongs to another run or service.
 */
export async function openCopyJournal(folder: string, { another, ...options }: OpenOptions): Promise<CopyJournal> {
  const path = join(folder, fileName);
  const { lines, makeReady } = await readJournal(path, lineSchema);
  await mkdir(folder, { recursive: true });
  const [first] = lines;
  const file = new JournalFile(path, options.checkOwn);
  if (another && first) return new CopyJournal(path, inPlaceOf(path, first.time, file, options), options, []);
  for (const line of lines) refuseOther(line, options, path);
  await makeReady();
  return new CopyJournal(path, file, options, lines);
}

/** A file that takes the place of an earlier journal with its first line: until then, nothing is written that needs another one. */
function inPlaceOf(path: string, time: string, file: LineWriter, { checkOwn }: CopyJournalOptions): LineWriter {
  let aside: Promise<void> | undefined;
  return {
    append: async (line) => {
      aside ??= checkOwn().then(() => setAside(path, time));
      await aside;
      await file.append(line);
    },
    close: () => file.close(),
  };
}

function refuseOther(line: JournalLine, { runId, baseUrl }: CopyId, path: string): void {
  if (line.kind !== "begun") return;
  const { run_id, base_url } = line;
  if (base_url === baseUrl && run_id === runId) return;
  throw new StopError(
    `${path}: this is the journal of a restore of run ${run_id} to ${base_url}, and not of run ${runId} to ${baseUrl}: check the base URL; if it is another service on the same host, move this file to another folder first`,
  );
}

/** Appends one line after the other, each on disk when it resolves. */
interface LineWriter {
  readonly append: (line: object) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface CopyJournalOptions {
  readonly runId: string;
  readonly baseUrl: string;
  readonly from: CopySource;
  readonly now: () => Date;
  /** Rejects when another process has taken the place of this one: one that was frozen does not know it. */
  readonly checkOwn: () => Promise<void>;
}

/** Notes every write of a move before it is sent, and what became of it. A later process learns from it what may have been done. */
export class CopyJournal {
  readonly path: string;
  readonly #file: LineWriter;
  readonly #options: CopyJournalOptions;
  readonly #facts = new GrowingFacts();
  /** The writes to each document of the dump, and what became of them. */
  readonly #documents = new Map<string, JournalLine[]>();
  #hasBegun = false;

  constructor(path: string, file: LineWriter, options: CopyJournalOptions, lines: readonly JournalLine[]) {
    this.path = path;
    this.#file = file;
    this.#options = options;
    for (const line of lines) this.#take(line);
  }

  /** The state of the target as far as the journal knows it. It changes with every line. */
  get facts(): JournalFacts {
    return this.#facts;
  }

  /** Writes with an unknown outcome, in their order. */
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
  async noteDataset(key: string, target: { readonly id: string; readonly name: string }): Promise<void> {
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

/** The state of the target that the lines of a journal tell, up to date with every line that it takes. */
class GrowingFacts implements JournalFacts {
  readonly datasets = new Map<string, TargetDataset>();
  readonly documents = new Map<string, EarlierDocument & { readonly target_dataset_id: string }>();
  readonly attachments = new Map<string, string>();
  from: CopySource | null = null;
  /** Ids at the service of every document that was made, those that are gone included. */
  readonly made = new Set<string>();
  /** The greatest number of an intent. */
  writes = 0;
  /** Writes whose effect is not certain: nothing is known of them, or they may yet show up. */
  readonly #uncertain = new Map<number, Intent>();
  readonly #open = new Set<number>();
  readonly #sent = new Map<number, number>();

  /** Writes with an unknown outcome, in their order. */
  get open(): readonly Intent[] {
    return [...this.#uncertain.values()].filter(({ number }) => this.#open.has(number));
  }

  /** Whether a write of this kind to a document of the dump counts as not done, and may yet show up. */
  mayShowUp(write: Intent["write"], documentId: string): boolean {
    return [...this.#uncertain.values()].some((intent) => intent.write === write && intent.document_id === documentId);
  }

  /** The time at which a write was sent, in milliseconds since 1970; undefined if it was not. */
  sentAt({ number }: Intent): number | undefined {
    return this.#sent.get(number);
  }

  /** Takes one more line. Gives the intent that it is, or is the outcome of. */
  take(line: JournalLine): Intent | undefined {
    switch (line.kind) {
      case "begun":
        this.from = line.from;
        return undefined;
      case "adopted":
        this.datasets.set(line.dataset_id, { id: line.id, name: line.name, existed: true });
        return undefined;
      case "document":
        this.#finish(line.document_id, line.state, line.reason);
        return undefined;
      case "forgotten":
        this.#forget(line.old_id);
        return undefined;
      case "intent":
        this.writes = Math.max(this.writes, line.number);
        this.#uncertain.set(line.number, line);
        this.#open.add(line.number);
        return line;
      case "sent":
        this.#sent.set(line.number, Date.parse(line.time));
        return undefined;
      case "outcome":
        return this.#conclude(line);
    }
  }

  #finish(documentId: string, state: EarlierDocument["state"], reason: string | null): void {
    const known = this.documents.get(documentId);
    if (known) this.documents.set(documentId, { ...known, state, reason });
  }

  /** The documents of a dataset that is gone are gone, too. */
  #forget(oldId: string): void {
    const dataset = this.datasets.get(oldId);
    this.datasets.delete(oldId);
    this.documents.delete(oldId);
    for (const [id, { target_dataset_id }] of this.documents)
      if (target_dataset_id === dataset?.id) this.documents.delete(id);
  }

  #conclude({ number, outcome, ids: [id] }: IntentOutcome): Intent | undefined {
    const intent = this.#uncertain.get(number);
    this.#open.delete(number);
    if (outcome !== "not done") this.#uncertain.delete(number);
    if (outcome === "done" && intent) this.#takeDone(intent, id);
    return intent;
  }

  #takeDone({ write, dataset_id, document_id, old_id, target_id, name }: Intent, id: string | undefined): void {
    const copy = this.documents.get(document_id ?? "");
    if (write === "delete document" && document_id !== null && copy?.target_id === target_id)
      this.documents.delete(document_id);
    if (id === undefined) return;
    if (write === "create dataset") this.datasets.set(dataset_id, { id, name: name ?? "" });
    if (write === "upload file" && old_id !== null) this.attachments.set(old_id, id);
    if (write !== "create document" || document_id === null) return;
    this.made.add(id);
    const target_dataset_id = this.datasets.get(dataset_id)?.id ?? "";
    this.documents.set(document_id, { target_id: id, target_dataset_id, state: "begun", reason: null });
  }
}

/** A request that added chunks to a document, or may have. */
export interface Addition {
  /** Chunks of the document of the dump that come before its first, and chunks that it adds. */
  readonly first: number;
  readonly rows: number;
  /** Ids at the service, in order; null where its answer was lost and nothing showed it, so that it may show up yet. */
  readonly ids: readonly string[] | null;
}

/** The requests for the newest copy of a document of the dump, in their order, but for those that the service refused. */
function additionsOf(lines: readonly JournalLine[], documentId: string): readonly Addition[] {
  const additions = new Map<number, Addition>();
  for (const line of lines) {
    if (line.kind === "intent" && line.document_id === documentId) {
      if (line.write === "create document") additions.clear();
      if (line.write === "add chunks")
        additions.set(line.number, { first: line.first ?? 0, rows: line.rows ?? 0, ids: null });
    }
    const addition = line.kind === "outcome" ? additions.get(line.number) : undefined;
    if (line.kind !== "outcome" || !addition) continue;
    if (line.outcome === "refused") additions.delete(line.number);
    if (line.outcome === "done") additions.set(line.number, { ...addition, ids: line.ids });
  }
  return [...additions.values()];
}
