import type { Intent, JournalLine, Outcome } from "./journal-lines.js";

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

/** The rows that writes made or changed, in the order of their first write; later writes to a row add to the earlier ones. */
export function writtenRows(lines: readonly JournalLine[]): readonly WrittenRow[] {
  const outcomes = outcomesOf(lines);
  const rows = new Map<string, WrittenRow>();
  const givenUp = new Set<string>();
  for (const line of lines) {
    if (line.kind === "given up") givenUp.add(line.id);
    if (line.kind !== "intent") continue;
    if (line.target_id !== null) givenUp.delete(line.target_id); // a later plan writes it again
    const { outcome, ids: [id] = [], indexed } = outcomes.get(line.number) ?? {};
    if (outcome !== "done" || id === undefined) continue;
    const name = `${levelOf(line)} ${id}`;
    rows.set(name, rowAfter(rows.get(name), line, id, indexed !== false));
  }
  return [...rows.values()].filter(({ id }) => !givenUp.has(id));
}

export function outcomesOf(lines: readonly JournalLine[]): ReadonlyMap<number, Outcome> {
  return new Map(lines.flatMap((line) => (line.kind === "outcome" ? [[line.number, line]] : [])));
}

export function levelOf({ write }: Pick<Intent, "write">): WrittenRow["level"] {
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

/** A dataset at the service that receives documents of the dump. */
export interface TargetDataset {
  readonly id: string;
  readonly name: string;
  /** It existed before the restore, and keeps its own settings. */
  readonly existed?: true;
}

/** A copy of a document at the service. `begun`: it is incomplete. */
export interface KnownCopy {
  readonly target_id: string;
  readonly target_dataset_id: string;
  readonly state: "begun" | "restored";
}

/** The datasets, documents and attachments at the service that a journal knows, by the original in the dump. */
export interface JournalFacts {
  /** By dataset key. */
  readonly datasets: ReadonlyMap<string, TargetDataset>;
  /** By the id in the dump. */
  readonly documents: ReadonlyMap<string, KnownCopy>;
  /** Ids of attachments at the service, by their ids in the dump. */
  readonly attachments: ReadonlyMap<string, string>;
  /** Whether a copy was started. */
  readonly isBegun: boolean;
}

/** The facts before a copy is started. */
export const noFacts: JournalFacts = {
  datasets: new Map(),
  documents: new Map(),
  attachments: new Map(),
  isBegun: false,
};

/** Journal facts that each recorded line updates. */
export class CopyFacts implements JournalFacts {
  readonly datasets = new Map<string, TargetDataset>();
  readonly documents = new Map<string, KnownCopy>();
  readonly attachments = new Map<string, string>();
  isBegun = false;
  /** Ids at the service of every document that was made, including deleted ones. */
  readonly made = new Set<string>();
  /** Writes without a `done` outcome. */
  readonly #intents = new Map<number, Intent>();

  take(line: JournalLine): void {
    if (line.kind === "begun") this.isBegun = true;
    if (line.kind === "adopted") this.datasets.set(line.dataset_id, { id: line.id, name: line.name, existed: true });
    if (line.kind === "restored") this.#finish(line.document_id);
    if (line.kind === "forgotten") this.#forget(line.old_id);
    if (line.kind === "intent") this.#intents.set(line.number, line);
    if (line.kind === "outcome" && line.outcome === "done") this.#takeDone(line);
  }

  #finish(documentId: string): void {
    const known = this.documents.get(documentId);
    if (known) this.documents.set(documentId, { ...known, state: "restored" });
  }

  /** Also forgets the documents of a dataset that is gone. */
  #forget(oldId: string): void {
    const dataset = this.datasets.get(oldId);
    this.datasets.delete(oldId);
    this.documents.delete(oldId);
    for (const [id, { target_dataset_id }] of this.documents)
      if (target_dataset_id === dataset?.id) this.documents.delete(id);
  }

  #takeDone({ number, ids: [id] }: Outcome): void {
    const intent = this.#intents.get(number);
    if (!intent) return;
    this.#intents.delete(number);
    const { write, dataset_id, document_id, old_id, target_id, name } = intent;
    const copy = this.documents.get(document_id ?? "");
    if (write === "delete document" && document_id !== null && copy?.target_id === target_id)
      this.documents.delete(document_id);
    if (id === undefined) return;
    if (write === "create dataset") this.datasets.set(dataset_id, { id, name: name ?? "" });
    if (write === "upload file" && old_id !== null) this.attachments.set(old_id, id);
    if (write !== "create document" || document_id === null) return;
    this.made.add(id);
    const target_dataset_id = this.datasets.get(dataset_id)?.id ?? "";
    this.documents.set(document_id, { target_id: id, target_dataset_id, state: "begun" });
  }
}

/** A request that added chunks to a document, or may have. */
export interface Addition {
  /** How many chunks of the dump's document come before the first added one. */
  readonly first: number;
  /** How many chunks were added. */
  readonly rows: number;
  /** Ids at the service, in order; null if the answer was lost and the chunks were not found, so they may still appear. */
  readonly ids: readonly string[] | null;
}

/** The add requests for the newest copy of a document of the dump, in order, except those that the service refused. */
export function additionsOf(lines: readonly JournalLine[], documentId: string): readonly Addition[] {
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
