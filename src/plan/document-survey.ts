import type { Listed } from "../client/check-list.js";
import type { DocumentRef } from "../client/knowledge-api.js";
import type { ChildEvidence } from "../crawl/child-evidence.js";
import { embeddedChildren } from "../crawl/embedded-children.js";
import { RetryError, SkipError } from "../errors.js";
import { ChildCounts } from "./child-counts.js";
import type { RowSizes } from "./row-sizes.js";
import { type Positions, positionsOf } from "./ties.js";

/** Whether chunks carry their children: as their child lists have them, otherwise than those, or not. */
export type Embedding = "unknown" | "none" | "agrees" | "differs";

/** What is known of one document; filled while the service is asked. */
export class DocumentSurvey {
  readonly ref: DocumentRef;
  /** What its rows take when they are written, by those that were seen. */
  readonly sizes: RowSizes;
  /** Chunks that the service counts; null when it did not say. */
  total: number | null = null;
  docForm: string | null = null;
  readonly children = new ChildCounts();
  /** How positions run in the longest stretch of chunks that was looked at. */
  positions: Positions = positionsOf([]);
  embedding: Embedding = "unknown";
  /** The chunks of the sample, whose lists were asked. */
  readonly sampled = new Set<string>();
  /** Why the document, or its child lists, cannot be read. */
  error: string | null = null;
  /** What keeps the count of requests from being certain, a sentence each. */
  readonly doubts = new Set<string>();

  constructor(ref: DocumentRef, sizes: RowSizes) {
    this.ref = ref;
    this.sizes = sizes;
  }

  /** Chunks whose child list was not asked, and which carry no children. */
  get unasked(): number {
    return Math.max(0, (this.total ?? 0) - this.children.known);
  }

  /**
   * Those of them whose number of children is not known: none, where all chunks were looked at and those that carry children
   * do so faithfully.
   */
  get unknown(): number {
    return this.#restIsBare ? 0 : this.unasked;
  }

  /** Chunks that embed some children, and those that embed none, of all that were looked at. */
  readonly embedded = { some: 0, none: 0 };

  /** What all pages of chunks show, where they were read. */
  evidence: ChildEvidence | undefined;

  /** The chunk with most children of those known. */
  longest: { readonly chunk: Listed; readonly children: number } | undefined;

  /** Takes how positions run in a stretch of chunks, where it is longer than what was looked at before. */
  seePositions({ rows, collisions, gaps }: Positions): void {
    if (rows > this.positions.rows) this.positions = { rows, collisions, gaps };
  }

  /** Takes what a child list says of its chunk, and compares it with what the chunk says itself. */
  addList(chunk: Listed, rows: readonly Listed[], total: number): void {
    this.#add(chunk, total);
    const own = embeddedIn(chunk);
    if (total === 0 && own.length === 0) return;
    const shown = new Set(own.map(({ id }) => id));
    const agrees = own.length === total && rows.every(({ id }) => shown.has(id));
    const here = own.length === 0 ? "none" : agrees ? "agrees" : "differs";
    this.embedding = this.embedding === "unknown" || this.embedding === here ? here : "differs";
  }

  /** Takes a chunk of which nothing but what it embeds is to be known; false where that is no evidence. */
  addEmbedded(chunk: Listed): boolean {
    const own = embeddedIn(chunk);
    if (own.length === 0 || this.embedding !== "agrees") return false;
    this.#add(chunk, own.length);
    return true;
  }

  #add(chunk: Listed, children: number): void {
    this.children.add(children);
    if (children > (this.longest?.children ?? 0)) this.longest = { chunk: { id: chunk.id }, children };
  }

  /** Children of a chunk of which nothing is known, in the mean of those that are. */
  get meanChildren(): number {
    return this.children.known === 0 ? 0 : this.children.sum / this.children.known;
  }

  /** Every chunk was looked at, and those that carry children do so faithfully. */
  get #restIsBare(): boolean {
    return this.embedding === "agrees" && this.embedded.some + this.embedded.none >= (this.total ?? 0);
  }

  /** Counts what a chunk embeds; each chunk once. */
  look(chunk: Listed): void {
    if (embeddedIn(chunk).length > 0) this.embedded.some++;
    else this.embedded.none++;
  }

  /** Something that was asked to know more, and could not be had; anything but SkipError is thrown again. */
  doubt(error: unknown): void {
    if (!(error instanceof SkipError)) throw error;
    this.doubts.add(`not all could be asked: ${error.message}`);
  }

  /** A document, or list, that cannot be read; anything but SkipError is thrown again. */
  fail(error: unknown): void {
    if (!(error instanceof SkipError)) throw error;
    this.error ??= error.message;
    if (error.cause instanceof RetryError) this.doubts.add("it was given up after several tries");
  }
}

/** The children that a chunk carries with it; none where they cannot be taken for child chunks. */
export function embeddedIn(chunk: Listed): readonly Listed[] {
  return embeddedChildren(chunk) ?? [];
}
