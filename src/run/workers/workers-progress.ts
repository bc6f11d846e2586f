import type * as v from "valibot";
import { count, object, valueIf } from "../../schema.js";
import type { RunTally } from "../setting/run-tally.js";
import type { Handed } from "./exchange-files.js";

const readEntries = {
  chunks: count,
  child_chunks: count,
  /** Pages and child lists that it takes, as far as that is known, and those that are read. */
  pages_expected: count,
  pages: count,
} as const;
const readSchema = object(readEntries);

/** So much of a document is read. */
export type DocumentRead = v.InferOutput<typeof readSchema>;

/** The progress of one document, as its worker tells of it about once a second. */
export const progressSchema = object({
  ...readEntries,
  /** Requests that the worker has sent for all of its documents: one that hangs tells the same again and again. */
  requests: count,
});

export type ToldProgress = v.InferOutput<typeof progressSchema>;

const nothing: DocumentRead = { chunks: 0, child_chunks: 0, pages_expected: 0, pages: 0 };

/** Counts what workers have read in the tally of the run, so that its progress is that of all of them. */
export class WorkersProgress {
  readonly #tally: RunTally;
  readonly #known = new Map<string, DocumentRead>();
  readonly #requests = new Map<string, number>();

  constructor(tally: RunTally) {
    this.#tally = tally;
  }

  /** A worker tells how far a document is. False: the text is none of a worker, or it did nothing since it told of this document last. */
  told(name: string, progress: unknown): boolean {
    const told = valueIf(progressSchema, progress);
    if (!told) return false;
    const { requests, ...read } = told;
    this.#set(name, read);
    const isSame = this.#requests.get(name) === requests;
    this.#requests.set(name, requests);
    return !isSame;
  }

  /** A document begins anew with another worker. */
  forget(name: string): void {
    if (!this.#known.has(name)) return;
    this.#set(name, nothing);
    this.#known.delete(name);
    this.#tally.documentsBegun--;
  }

  /** A document is read and taken over. */
  adopted(name: string, { result: { row }, pages }: Handed): void {
    const { chunk_count: chunks, child_chunk_count: child_chunks } = row;
    this.#set(name, { chunks, child_chunks, pages_expected: pages, pages });
    this.#tally.documentsDone++;
  }

  /** Takes everything back: the run counts what it finds among its parts. */
  takeBack(): void {
    for (const name of [...this.#known.keys()]) this.forget(name);
    this.#tally.documentsDone = 0;
  }

  #set(name: string, read: DocumentRead): void {
    const before = this.#known.get(name);
    if (!before) this.#tally.documentsBegun++;
    const { chunks, child_chunks, pages_expected, pages } = before ?? nothing;
    this.#tally.chunks += read.chunks - chunks;
    this.#tally.child_chunks += read.child_chunks - child_chunks;
    this.#tally.pagesExpected += read.pages_expected - pages_expected;
    this.#tally.pagesDone += read.pages - pages;
    this.#known.set(name, read);
  }
}
