import type { Listed } from "../client/check-list.js";
import type { DocumentRef } from "../client/knowledge-api.js";
import { type ChildEvidence, noEvidence } from "../crawl/child-evidence.js";
import { embeddedChildren } from "../crawl/embedded-children.js";
import { GaveUpError, SkipError } from "../errors.js";
import { ChildCounts } from "./child-counts.js";
import type { RowSizes } from "./row-sizes.js";

/** The facts about one document; filled while the service is asked. */
export class DocumentSurvey {
  readonly ref: DocumentRef;
  /** Chunks that the service counts; null when it did not say. */
  total: number | null = null;
  docForm: string | null = null;
  readonly #allSizes: RowSizes;
  #sizes: RowSizes | undefined;
  readonly children = new ChildCounts();
  /** Whether chunks carry their children: as their child lists have them, otherwise than those, or not. */
  embedding: "unknown" | "none" | "agrees" | "differs" = "unknown";
  /** The chunks whose lists are compared with what they embed. */
  readonly sampled = new Set<string>();
  #sampledEmbedding = 0;
  /** The evidence of all pages of chunks; undefined until they were read. */
  allPages: ChildEvidence | undefined;
  /** The chunk with most children of those known. */
  longest: { readonly chunk: Listed; readonly children: number } | undefined;
  /** Why the document, or its child lists, cannot be read. */
  error: string | null = null;
  /** The reasons why the count of requests is uncertain, a sentence each. */
  readonly doubts = new Set<string>();

  constructor(ref: DocumentRef, allSizes: RowSizes) {
    this.ref = ref;
    this.#allSizes = allSizes;
  }

  /** The sizes of its rows. Read it only after the first answer, which tells the form. */
  get sizes(): RowSizes {
    this.#sizes ??= this.#allSizes.ofDocument(this.docForm);
    return this.#sizes;
  }

  /** Chunks whose child list was not asked, and which are not known to carry their children. */
  get unasked(): number {
    return Math.max(0, (this.total ?? 0) - this.children.known);
  }

  /** Unasked chunks that may have children: none if all pages were read and chunks embed their children faithfully. */
  get unknown(): number {
    const isRestBare = this.embedding === "agrees" && (this.allPages?.chunks ?? -1) >= (this.total ?? 0);
    return isRestBare ? 0 : this.unasked;
  }

  /** Children of the document: counted if every list is known, otherwise an estimate from those that are. */
  get childCount(): { readonly count: number; readonly exact: boolean } {
    const { known, sum } = this.children;
    const mean = known === 0 ? 0 : sum / known;
    return { count: sum + Math.round(mean * this.unknown), exact: this.unknown === 0 };
  }

  /** The evidence for child_chunks: auto, from all pages if they were read, otherwise from the sampled chunks. */
  get evidence(): ChildEvidence {
    const { docForm } = this;
    return this.allPages ?? { ...noEvidence, docForm, chunks: this.sampled.size, embedding: this.#sampledEmbedding };
  }

  /** Adds the chunk to the sample; false if it is there already. */
  sample(chunk: Listed): boolean {
    if (this.sampled.has(chunk.id)) return false;
    this.sampled.add(chunk.id);
    if (embeddedIn(chunk).length > 0) this.#sampledEmbedding++;
    return true;
  }

  /** Counts a child list, and compares it with the children that its chunk embeds. */
  addList(chunk: Listed, rows: readonly Listed[], total: number): void {
    this.#add(chunk, total);
    const own = embeddedIn(chunk);
    if (total === 0 && own.length === 0) return;
    const shown = new Set(own.map(({ id }) => id));
    const agrees = own.length === total && rows.every(({ id }) => shown.has(id));
    const here = own.length === 0 ? "none" : agrees ? "agrees" : "differs";
    this.embedding = this.embedding === "unknown" || this.embedding === here ? here : "differs";
  }

  /** Counts the embedded children of a chunk without asking its list; false if they cannot be relied on. */
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

  /** Notes that a further question failed; rethrows anything but SkipError. */
  doubt(error: unknown): void {
    if (!(error instanceof SkipError)) throw error;
    this.doubts.add(`some requests failed: ${error.message}`);
  }

  /** Notes that the document, or a list of it, cannot be read; rethrows anything but SkipError. */
  fail(error: unknown): void {
    if (!(error instanceof SkipError)) throw error;
    this.error ??= error.message;
    if (error instanceof GaveUpError) this.doubts.add("a request failed at every try");
  }
}

/** The children that a chunk carries with it; none where they cannot be taken for child chunks. */
export function embeddedIn(chunk: Listed): readonly Listed[] {
  return embeddedChildren(chunk) ?? [];
}
