import type { ChildRecord, ChunkRecord } from "../../servers/json.js";
import type { TestDocument } from "../../servers/store.js";
import type { ListName } from "./list-name.js";

/** A row as far as it is compared: what it says, not how often it was hit. */
export type Fingerprint = string;

/** The rows of a list at a moment: id → fingerprint. */
export type ListState = ReadonlyMap<string, Fingerprint>;

interface Version {
  /** Counts moments: every answer and every edit is one. */
  readonly from: number;
  readonly isDropped: boolean;
  readonly chunks: readonly ChunkRecord[];
  readonly children: ReadonlyMap<string, readonly ChildRecord[]>;
}

export function fingerprintOf(row: Readonly<Record<string, unknown>>): Fingerprint {
  return JSON.stringify([row.content ?? null, row.answer ?? null]);
}

/** Every state that the documents really had. */
export class History {
  readonly #versions = new Map<string, Version[]>();
  readonly #documents: { readonly from: number; readonly ids: ReadonlySet<string> }[] = [];

  /** The document is as it is now from this moment on. */
  record(document: TestDocument, from: number, isDropped = false): void {
    const version = { from, isDropped, chunks: [...document.chunks], children: new Map(document.children) };
    const versions = this.#versions.get(document.id);
    if (versions) versions.push(version);
    else this.#versions.set(document.id, [version]);
  }

  versionsOf(document: string): readonly Version[] {
    return this.#versions.get(document) ?? [];
  }

  /** The list as it was at that moment; undefined where there was none. */
  at(list: ListName, moment: number): ListState | undefined {
    const version = this.versionsOf(list.document).findLast(({ from }) => from <= moment);
    return version && stateOf(version, list);
  }

  /** The moment since which the list is as it is now. */
  since({ document, chunk }: ListName): number | undefined {
    const versions = this.versionsOf(document);
    const rowsOf = (version: Version | undefined) =>
      chunk === undefined ? version?.chunks : version?.children.get(chunk);
    const now = rowsOf(versions.at(-1));
    const before = versions.findLastIndex((version) => rowsOf(version) !== now);
    return versions[before + 1]?.from;
  }

  /** Every state that the list had between two moments, both included. */
  *between(list: ListName, first: number, last: number): Generator<ListState | undefined> {
    const versions = this.versionsOf(list.document);
    for (const [index, version] of versions.entries()) {
      const until = versions[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      if (version.from <= last && until > first) yield stateOf(version, list);
    }
  }

  /** The dataset holds these documents from this moment on. */
  recordDocuments(ids: Iterable<string>, from: number): void {
    this.#documents.push({ from, ids: new Set(ids) });
  }

  /** Every set of documents that the dataset held between two moments, both included. */
  documentsBetween(first: number, last: number): readonly ReadonlySet<string>[] {
    const isThen = (from: number, until: number) => from <= last && until > first;
    return this.#documents
      .filter(({ from }, index) => isThen(from, this.#documents[index + 1]?.from ?? Number.POSITIVE_INFINITY))
      .map(({ ids }) => ids);
  }

  /** Whether there is no such document any more. */
  isDropped(document: string): boolean {
    return this.versionsOf(document).at(-1)?.isDropped ?? true;
  }

  /** Whether anything of the document was edited between two moments. */
  isEdited(document: string, first: number, last: number): boolean {
    return this.versionsOf(document).some(({ from }) => from > first && from <= last);
  }
}

const states = new WeakMap<object, ListState>();

function stateOf({ isDropped, chunks, children }: Version, { chunk }: ListName): ListState | undefined {
  if (isDropped) return undefined;
  if (chunk !== undefined && !chunks.some(({ id }) => id === chunk)) return undefined;
  const rows = chunk === undefined ? chunks : (children.get(chunk) ?? none);
  const known = states.get(rows);
  if (known) return known;
  const state = new Map(rows.map((row) => [row.id, fingerprintOf(row)]));
  states.set(rows, state);
  return state;
}

const none: readonly ChildRecord[] = [];
