import type { ChildRecord, ChunkRecord } from "../../servers/json.js";
import type { TestDocument } from "../../servers/store.js";
import type { ListName } from "./list-name.js";

/** The part of a row that the judge compares: its contents, without the hit count. */
export type Fingerprint = string;

/** The rows of a list at a moment: id → fingerprint. */
export type ListState = ReadonlyMap<string, Fingerprint>;

interface Version {
  /** The moment from which this state is valid. Every answer and every edit is a moment. */
  readonly from: number;
  readonly isDropped: boolean;
  readonly chunks: readonly ChunkRecord[];
  readonly children: ReadonlyMap<string, readonly ChildRecord[]>;
}

export function fingerprintOf(row: Readonly<Record<string, unknown>>): Fingerprint {
  return JSON.stringify([row.content ?? null, row.answer ?? null]);
}

/** All states of all documents. */
export class History {
  readonly #versions = new Map<string, Version[]>();
  readonly #documents: { readonly from: number; readonly ids: ReadonlySet<string> }[] = [];

  /** Records the current state of a document, valid from this moment. */
  record(document: TestDocument, from: number, isDropped = false): void {
    const version = { from, isDropped, chunks: [...document.chunks], children: new Map(document.children) };
    const versions = this.#versions.get(document.id);
    if (versions) versions.push(version);
    else this.#versions.set(document.id, [version]);
  }

  versionsOf(document: string): readonly Version[] {
    return this.#versions.get(document) ?? [];
  }

  /** The list at a moment; undefined if it did not exist. */
  at(list: ListName, moment: number): ListState | undefined {
    const version = this.versionsOf(list.document).findLast(({ from }) => from <= moment);
    return version && stateOf(version, list);
  }

  /** The moment of the list's last change. */
  since({ document, chunk }: ListName): number | undefined {
    const versions = this.versionsOf(document);
    const rowsOf = (version: Version | undefined) =>
      chunk === undefined ? version?.chunks : version?.children.get(chunk);
    const now = rowsOf(versions.at(-1));
    const before = versions.findLastIndex((version) => rowsOf(version) !== now);
    return versions[before + 1]?.from;
  }

  /** Every state of a list between two moments, inclusive. */
  *between(list: ListName, first: number, last: number): Generator<ListState | undefined> {
    const versions = this.versionsOf(list.document);
    for (const [index, version] of versions.entries()) {
      const until = versions[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      if (version.from <= last && until > first) yield stateOf(version, list);
    }
  }

  /** Records the documents of the dataset, valid from this moment. */
  recordDocuments(ids: Iterable<string>, from: number): void {
    this.#documents.push({ from, ids: new Set(ids) });
  }

  /** Every set of documents in the dataset between two moments, inclusive. */
  documentsBetween(first: number, last: number): readonly ReadonlySet<string>[] {
    const isThen = (from: number, until: number) => from <= last && until > first;
    return this.#documents
      .filter(({ from }, index) => isThen(from, this.#documents[index + 1]?.from ?? Number.POSITIVE_INFINITY))
      .map(({ ids }) => ids);
  }

  /** Whether a document was deleted. */
  isDropped(document: string): boolean {
    return this.versionsOf(document).at(-1)?.isDropped ?? true;
  }

  /** Whether a document was edited between two moments. */
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
