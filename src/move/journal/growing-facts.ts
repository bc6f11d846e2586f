import type { JournalFacts, PlacedDataset } from "../journal-facts.js";
import type { EarlierDocument, MoveFrom } from "../move-plan.js";
import type { Intent, IntentOutcome, JournalLine } from "./journal-lines.js";

/** The state of the target that the lines of a journal tell, up to date with every line that it takes. */
export class GrowingFacts implements JournalFacts {
  readonly datasets = new Map<string, PlacedDataset>();
  readonly documents = new Map<string, EarlierDocument & { readonly target_dataset_id: string }>();
  readonly attachments = new Map<string, string>();
  from: MoveFrom | null = null;
  /** Ids at the service of every document that was made, those that are gone included. */
  readonly made = new Set<string>();
  /** The greatest number of an intent. */
  writes = 0;
  /** Writes whose effect is not certain: nothing is known of them, or they may yet show up. */
  readonly #uncertain = new Map<number, Intent>();
  readonly #open = new Set<number>();
  readonly #sent = new Map<number, number>();

  /** Writes of which nobody knows what became, in their order. */
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
        this.datasets.set(line.dataset_id, { id: line.id, name: line.name, adopted: true });
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
