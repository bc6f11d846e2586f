import type { Intent, JournalLine, Outcome, Write } from "./journal-schema.js";

/** A row of the target that a restore made or changed, and its expected state. */
export interface WrittenRow {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly level: "chunk" | "child_chunk";
  readonly id: string;
  /** Id in the older run. */
  readonly old_id: string;
  /** The parent chunk in the target, for a child chunk. */
  readonly parent_id: string | null;
  readonly is_added: boolean;
  /** Null if only its state was changed. */
  readonly texts_sha256: string | null;
  readonly keywords_sha256: string | null;
  readonly is_disabled: boolean;
  /** False for a chunk that the service could not index, until it is repaired; such a chunk is reported as failed. */
  readonly is_indexed: boolean;
}

/** A row of the older run that a restore wrote to the service, and its id there. */
export interface RestoredRow {
  readonly old_id: string;
  readonly id: string;
}

/** A copy of a document at the service. `begun`: it is incomplete. */
export interface KnownCopy {
  readonly target_id: string;
  readonly target_dataset_id: string;
  readonly state: "begun" | "restored";
}

/** The datasets, documents and attachments at the service that a journal knows, by the original in the dump. */
export interface JournalFacts {
  /** By dataset key. `existed`: it existed before the restore, and keeps its own settings. */
  readonly datasets: ReadonlyMap<string, { readonly id: string; readonly name: string; readonly existed?: true }>;
  readonly documents: ReadonlyMap<string, KnownCopy>;
  readonly attachments: ReadonlyMap<string, string>;
  /** Whether a copy was started. */
  readonly isBegun: boolean;
}

function newFacts() {
  return {
    datasets: new Map<string, { readonly id: string; readonly name: string; readonly existed?: true }>(),
    documents: new Map<string, KnownCopy>(),
    attachments: new Map<string, string>(),
    isBegun: false,
  };
}

/** The facts before a copy is started. */
export const noFacts: JournalFacts = newFacts();

/** A request that added chunks to a document, or may have. */
export interface Addition {
  /** How many chunks of the dump's document come before the first added one. */
  readonly first: number;
  readonly rows: number;
  /** Ids at the service, in order; null if the answer was lost and the chunks were not found, so they may still appear. */
  readonly ids: readonly string[] | null;
}

interface JournaledWrite {
  readonly intent: Intent;
  /** The dump made before it; null for a copy. */
  readonly undo: string | null;
  /** In milliseconds since 1970; undefined if it was not sent. */
  sentAt?: number;
  /** The latest outcome; undefined if it is unknown. */
  outcome?: Outcome;
}

/** The facts that the lines of a journal give. Each line, of this process or an earlier one, updates it. */
export class JournalState {
  readonly #writes = new Map<number, JournaledWrite>();
  /** Writes whose effect is uncertain: the outcome is unknown, or they may still take effect. */
  readonly #uncertain = new Map<number, JournaledWrite>();
  /** The writes to each document, in order. */
  readonly #documents = new Map<string, JournaledWrite[]>();
  readonly #givenUp = new Set<string>();
  #facts = newFacts();
  #undo: string | null = null;
  #sent = 0;
  /** Rows that no longer need a proof: of ended restores, and of finished documents. */
  readonly #earlier: RestoredRow[] = [];

  /** The newest dump made before a write; null before a restore begins, and for a copy. */
  get undo(): string | null {
    return this.#undo;
  }

  /** Number of write requests sent or about to be sent. */
  get writes(): number {
    return this.#sent;
  }

  take(line: JournalLine): void {
    if (line.kind === "begun") {
      this.#facts.isBegun = true;
      this.#undo = line.undo;
    }
    if (line.kind === "intent") this.#takeIntent(line);
    if (line.kind === "outcome") this.#takeOutcome(line);
    const write = line.kind === "sent" && this.#writes.get(line.number);
    if (write) write.sentAt = Date.parse(line.time);
    if (line.kind === "given up") this.#givenUp.add(line.id);
    if (line.kind === "adopted")
      this.#facts.datasets.set(line.dataset_id, { id: line.id, name: line.name, existed: true });
    if (line.kind === "forgotten") this.#facts.documents.delete(line.old_id);
    if (line.kind === "restored") this.#finish(line.document_id);
    if (line.kind === "end") this.#end();
  }

  /** Forgets what ended, except which rows a restore wrote: the next restore has its own undo and proof. */
  #end(): void {
    if (this.undo !== null) for (const row of rowsAfter(this.#writes.values())) this.#earlier.push(row);
    for (const each of [this.#writes, this.#uncertain, this.#documents, this.#givenUp]) each.clear();
    this.#facts = newFacts();
    this.#undo = null;
    this.#sent = 0;
  }

  /** Marks a document as finished. After a restore, forgets the writes to it: a later restore of it has its own undo and proof. */
  #finish(documentId: string): void {
    const { documents } = this.#facts;
    const known = documents.get(documentId);
    if (known) documents.set(documentId, { ...known, state: "restored" });
    if (this.undo === null) return; // a copy is proved again with every command
    for (const row of rowsAfter(this.#writesTo(documentId))) this.#earlier.push(row);
    for (const { intent } of this.#writesTo(documentId)) {
      this.#writes.delete(intent.number);
      this.#uncertain.delete(intent.number);
    }
    this.#documents.delete(documentId);
  }

  #takeIntent(intent: Intent): void {
    const write = { intent, undo: this.undo };
    this.#sent = Math.max(this.#sent, intent.number);
    this.#writes.set(intent.number, write);
    this.#uncertain.set(intent.number, write);
    if (intent.target_id !== null) this.#givenUp.delete(intent.target_id); // a later plan writes it again
    if (intent.document_id === null) return;
    const own = this.#documents.get(intent.document_id);
    if (own) own.push(write);
    else this.#documents.set(intent.document_id, [write]);
  }

  #takeOutcome(outcome: Outcome): void {
    const write = this.#writes.get(outcome.number);
    if (!write) return;
    const isKnown = write.outcome?.outcome === "done";
    write.outcome = outcome;
    if (outcome.outcome !== "not done") this.#uncertain.delete(outcome.number);
    if (outcome.outcome === "done" && !isKnown) this.#takeDone(write.intent, outcome);
  }

  #takeDone(intent: Intent, { ids: [id] }: Outcome): void {
    const { datasets, documents, attachments } = this.#facts;
    const { write, dataset_id, document_id, old_id, target_id, name } = intent;
    if (write === "delete document" && document_id !== null && documents.get(document_id)?.target_id === target_id)
      documents.delete(document_id);
    if (id === undefined) return;
    if (write === "create dataset") datasets.set(dataset_id, { id, name: name ?? "" });
    if (write === "upload file" && old_id !== null) attachments.set(old_id, id);
    if (write !== "create document" || document_id === null) return;
    const target_dataset_id = datasets.get(dataset_id)?.id ?? "";
    documents.set(document_id, { target_id: id, target_dataset_id, state: "begun" });
  }

  /** Writes with an unknown outcome, in order. */
  get open(): readonly Intent[] {
    return [...this.#uncertain.values()].filter(({ outcome }) => !outcome).map(({ intent }) => intent);
  }

  /** Writes of this kind to a document that count as not done but may still take effect, including those of earlier processes. */
  mayShowUp(write: Write, documentId: string): readonly Intent[] {
    const all = [...this.#uncertain.values()].map(({ intent }) => intent);
    return all.filter((intent) => intent.write === write && intent.document_id === documentId);
  }

  /** When a write was sent, in milliseconds since 1970; undefined if it was not sent. */
  sentAt({ number }: Pick<Intent, "number">): number | undefined {
    return this.#writes.get(number)?.sentAt;
  }

  /** The dump made before the first write to a document. Writes that were not done changed nothing and do not count. */
  undoOf(documentId: string): string | null {
    const first = this.#writesTo(documentId).find(({ outcome }) => !outcome || outcome.outcome === "done");
    return first ? first.undo : this.undo;
  }

  #writesTo(documentId: string): readonly JournaledWrite[] {
    return this.#documents.get(documentId) ?? [];
  }

  isWrittenAfter(documentId: string, number: number): boolean {
    return this.#writesTo(documentId).some(({ intent }) => intent.number > number);
  }

  /** Ids of the documents that a restore changed and that are not recorded as complete. */
  get unfinished(): readonly string[] {
    const isDone = ({ outcome }: JournaledWrite) => outcome?.outcome === "done";
    return [...this.#documents].filter(([, writes]) => writes.some(isDone)).map(([id]) => id);
  }

  /** Ids of the documents that need another command: a write has an unknown outcome, or a chunk needs repair. */
  get unsettled(): ReadonlySet<string> {
    return new Set([...this.open, ...this.unindexed].flatMap(({ document_id }) => document_id ?? []));
  }

  /** The rows of the target that writes made or changed and that were not given up, in the order of their first write. */
  get written(): readonly WrittenRow[] {
    return rowsAfter(this.#writes.values()).filter(({ id }) => !this.#givenUp.has(id));
  }

  /** The indexed rows that this restore and earlier ones wrote. Some may be gone or changed by now. */
  get restored(): readonly RestoredRow[] {
    const settled = rowsAfter(this.#writes.values()).filter(
      ({ id, is_indexed }) => is_indexed || this.#givenUp.has(id),
    );
    return [...this.#earlier, ...settled];
  }

  get unindexed(): readonly WrittenRow[] {
    return this.written.filter((row) => row.level === "chunk" && !row.is_indexed);
  }

  /** The known copies at the service. Updated with every line. */
  get facts(): JournalFacts {
    return this.#facts;
  }

  /** Ids at the service of all documents that writes made, including deleted ones. */
  get madeDocuments(): ReadonlySet<string> {
    const made = [...this.#writes.values()].filter(({ intent }) => intent.write === "create document");
    return new Set(made.flatMap(({ outcome }) => outcome?.ids ?? []));
  }

  /** The requests that added chunks to the newest copy of a document of the dump, or may have, in order; not those that were refused. */
  additions(documentId: string): readonly Addition[] {
    const writes = this.#writesTo(documentId);
    return writes
      .slice(writes.findLastIndex(({ intent }) => intent.write === "create document") + 1)
      .flatMap(({ intent: { write, first, rows }, outcome }) => {
        if (write !== "add chunks" || outcome?.outcome === "refused") return [];
        return [{ first: first ?? 0, rows: rows ?? 0, ids: outcome?.outcome === "done" ? outcome.ids : null }];
      });
  }
}

/** The rows that these writes made or changed, in the order of their first write. */
function rowsAfter(writes: Iterable<JournaledWrite>): readonly WrittenRow[] {
  const rows = new Map<string, WrittenRow>();
  for (const { intent, outcome } of writes) {
    const { outcome: end, ids: [id] = [], indexed } = outcome ?? {};
    if (end !== "done" || id === undefined) continue;
    const name = `${levelOf(intent)} ${id}`;
    rows.set(name, rowAfter(rows.get(name), intent, id, indexed !== false));
  }
  return [...rows.values()];
}

function levelOf({ write }: Pick<Intent, "write">): WrittenRow["level"] {
  return write.endsWith("child") ? "child_chunk" : "chunk";
}

function rowAfter(before: WrittenRow | undefined, intent: Intent, id: string, isIndexed: boolean): WrittenRow {
  const { dataset_id, document_id, write, old_id, parent_id } = intent;
  const [isTouched, isDisabled] = [write === "touch chunk", write === "disable chunk"];
  return {
    dataset_id,
    document_id: document_id ?? "",
    level: levelOf(intent),
    id,
    old_id: old_id ?? "",
    parent_id,
    is_added: before?.is_added === true || write.startsWith("add"),
    texts_sha256: (isTouched ? null : intent.texts_sha256) ?? before?.texts_sha256 ?? null,
    keywords_sha256: intent.keywords_sha256 ?? before?.keywords_sha256 ?? null,
    is_disabled: isDisabled,
    is_indexed: !isTouched && (isDisabled ? (before?.is_indexed ?? true) : isIndexed),
  };
}
