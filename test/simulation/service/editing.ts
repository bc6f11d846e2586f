import { integer, pick, type Random } from "../../servers/random.js";
import type { TestDocument } from "../../servers/store.js";
import { streamOf } from "../draw/stream.js";
import type { EditKind, Scenario, ScriptedEdit } from "../scenario.js";
import { applyEdit, type BegunAdd, greatest, storeBegun } from "./edit.js";
import type { History } from "./history.js";
import { chunkId, editedId } from "./ids.js";
import { chunkOf, documentOf, type Knowledge, positionOf, sortChunks } from "./knowledge.js";

/** Everything that edits read and change. */
export interface Edited {
  readonly knowledge: Knowledge;
  readonly history: History;
  /** Advances to the next moment, and returns it. */
  readonly nextMoment: () => number;
  readonly report: (line: string) => void;
  /** The service's time, in Unix seconds. */
  readonly now: () => number;
}

/** Seconds after which the service releases its lock on adding chunks. */
const lockTime = 600;

/** Edits the knowledge base between answers, and while no process runs. */
export class Editing {
  readonly #scenario: Scenario;
  readonly #edited: Edited;
  readonly #random: Random;
  readonly #asked = new Map<object, number>();
  #edits = 0;
  /** Adds in progress, each with the number of answers until its row is stored. */
  readonly #begun: (BegunAdd & { left: number })[] = [];

  constructor(scenario: Scenario, edited: Edited) {
    this.#scenario = scenario;
    this.#edited = edited;
    this.#random = streamOf(scenario.seed, "edits");
    if (scenario.edits.kinds.includes("late append"))
      for (const document of edited.knowledge.documents) this.#beginBefore(document);
  }

  /**
   * Starts an add whose position is before some of the last rows, taken at most one lock time ago. The row with the same position
   * may have been deleted since, so that no tie reveals the add.
   */
  #beginBefore(document: TestDocument): void {
    const later = document.chunks.slice(-integer(this.#random, 1, 3));
    const [first] = later;
    if (!first || this.#random() < 0.5) return;
    const begunAt = this.#edited.now() - integer(this.#random, 0, lockTime);
    for (const chunk of later) {
      const at = document.chunks.indexOf(chunk);
      document.chunks[at] = { ...chunk, created_at: begunAt - integer(this.#random, 0, lockTime) };
    }
    this.#begin({ document, position: positionOf(first), begunAt });
    if (later.length === 1 || this.#random() < 0.5) return;
    document.chunks = document.chunks.filter(({ id }) => id !== first.id);
    document.children.delete(first.id);
  }

  #begin(add: BegunAdd): void {
    this.#begun.push({ ...add, left: integer(this.#random, 1, 12) });
  }

  /** Stores the rows of adds that are due, or of all adds after a long time. */
  #storeDue(all: boolean): void {
    for (const add of [...this.#begun]) {
      add.left--;
      if (add.left > 0 && !all) continue;
      this.#begun.splice(this.#begun.indexOf(add), 1);
      const { history, nextMoment, knowledge } = this.#edited;
      if (!knowledge.dataset.documents.has(add.document.id)) continue;
      const moment = nextMoment();
      storeBegun(add, ++this.#edits);
      history.record(add.document, moment);
      this.#report(add.document, "late append", moment);
    }
  }

  /** Edits something with the scenario's probability, and applies scripted edits for this request. */
  perhaps(target: string): void {
    this.#storeDue(false);
    for (const scripted of this.#scenario.edits.script ?? []) if (this.#isDue(scripted, target)) this.#follow(scripted);
    const { rate, most } = this.#scenario.edits;
    if (this.#edits < most && this.#random() < rate) this.once();
  }

  /** Makes this many edits while no process sends requests. */
  moveOn(edits: number): void {
    this.#storeDue(true);
    for (let nth = 0; nth < edits; nth++) this.once();
  }

  /** Edits something, if the scenario has edits at all. */
  once(): void {
    const { kinds } = this.#scenario.edits;
    const [first, ...rest] = kinds;
    if (first === undefined) return;
    this.#edits++;
    const kind = pick(this.#random, [first, ...rest]);
    const { documents, dataset } = this.#edited.knowledge;
    const document = documents[integer(this.#random, 0, documents.length - 1)];
    if (kind === "late append" && document)
      this.#begin({ document, position: greatest(document.chunks) + 1, begunAt: this.#edited.now() });
    else if (kind === "add document") this.#addDocument();
    else if (!document || !dataset.documents.has(document.id)) return;
    else if (kind === "drop document" || kind === "replace document") this.#dropDocument(document, kind);
    else this.#editDocument(document, kind);
  }

  #isDue(scripted: ScriptedEdit, target: string): boolean {
    if (!target.includes(scripted.before)) return false;
    const nth = (this.#asked.get(scripted) ?? 0) + 1;
    this.#asked.set(scripted, nth);
    return nth === (scripted.nth ?? 1);
  }

  #follow({ deleted = [], added = [], dropped = [], addedDocuments = 0 }: ScriptedEdit): void {
    const { history, nextMoment, knowledge } = this.#edited;
    const [document] = knowledge.documents;
    const lost = new Set(deleted.map((chunk) => chunkId(1, chunk)));
    if (document && lost.size + added.length > 0) {
      const moment = nextMoment();
      const kept = document.chunks.filter(({ id }) => !lost.has(id));
      const more = added.map((position, nth) => {
        const id = editedId("chunk", ++this.#edits, nth);
        return chunkOf(document.id, id, position, { content: "added", created_at: this.#edited.now() });
      });
      document.chunks = [...kept, ...more];
      sortChunks(document);
      history.record(document, moment);
      this.#report(document, "replace", moment);
    }
    for (const number of dropped) {
      const gone = knowledge.documents[number - 1];
      if (gone) this.#dropDocument(gone, "drop document");
    }
    for (let nth = 0; nth < addedDocuments; nth++) this.#addDocument();
  }

  #editDocument(document: TestDocument, kind: EditKind): void {
    const { history, nextMoment } = this.#edited;
    const moment = nextMoment();
    const now = this.#edited.now();
    applyEdit({ kind, document, number: this.#edits, random: this.#random, history, now });
    history.record(document, moment);
    this.#report(document, kind, moment);
  }

  #dropDocument(document: TestDocument, kind: EditKind): void {
    const { history, nextMoment, knowledge } = this.#edited;
    const moment = nextMoment();
    knowledge.dataset.documents.delete(document.id);
    history.record(document, moment, true);
    this.#report(document, kind, moment);
    if (kind === "replace document") this.#addDocument(moment);
    else history.recordDocuments(knowledge.dataset.documents.keys(), moment);
  }

  /** Adds a document like the first one, but smaller. */
  #addDocument(at?: number): void {
    const { history, nextMoment, knowledge } = this.#edited;
    const moment = at ?? nextMoment();
    const [first] = this.#scenario.documents;
    if (!first) return;
    const unreadable = { chunks: [], status: 400 };
    const shape = { ...first, chunks: integer(this.#random, 0, 3), big: 0, refused: undefined, unreadable };
    const document = documentOf(shape, knowledge.documents.length + 1);
    knowledge.documents.push(document);
    knowledge.shapes.set(document.id, shape);
    this.#list(document);
    history.record(document, moment);
    history.recordDocuments(knowledge.dataset.documents.keys(), moment);
    this.#report(document, "add document", moment);
  }

  /** Inserts a document into the list: the newest first, but anywhere among documents with the same time. */
  #list(document: TestDocument): void {
    const { documents } = this.#edited.knowledge.dataset;
    const behind = this.#random() < 0.5 ? integer(this.#random, 0, documents.size) : 0;
    const others = [...documents].slice(documents.size - behind);
    for (const [id] of others) documents.delete(id);
    documents.set(document.id, document);
    for (const [id, other] of others) documents.set(id, other);
  }

  #report(document: TestDocument, kind: EditKind, moment: number): void {
    const number = Number(document.id.slice(-6));
    this.#edited.report(`document ${number}: ${kind}, ${document.chunks.length} chunks, moment ${moment}`);
  }
}
