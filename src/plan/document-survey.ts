import type { Listed } from "../client/check-answer.js";
import { type DocumentRef, pageSize } from "../client/knowledge-api.js";
import { type ChildEvidence, embeddedChildren, noEvidence } from "../crawl/child-evidence.js";
import { GaveUpError, SkipError } from "../errors.js";
import { rowFromRecord } from "../rows/row-from-record.js";

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

type SizedKind = "chunks" | "child_chunks";

/** Bytes of a row: as JSON of the service, embedded children included, and as a line of JSONL. */
interface RowSize {
  readonly json: number;
  readonly jsonl: number;
}

/** A placeholder: all UUIDs have the same length. */
const someId = "00000000-0000-4000-8000-000000000000";

/** Rows of each kind that are measured of one document; a mean of more would hardly be another. */
const enough = 300;

/** Weight, in rows, of the mean of like documents in the mean of one, of which perhaps only a few rows were seen. */
const general = 2;

/** Measures sample rows: of one document, and with it of all of its form, and of all. */
export class RowSizes {
  readonly #keepSignatures: boolean;
  readonly #whole: RowSizes | undefined;
  readonly #forms = new Map<string | null, RowSizes>();
  readonly #sums = {
    chunks: { seen: 0, measured: 0, json: 0, jsonl: 0 },
    child_chunks: { seen: 0, measured: 0, json: 0, jsonl: 0 },
  };

  constructor(keepSignatures: boolean, whole?: RowSizes) {
    this.#keepSignatures = keepSignatures;
    this.#whole = whole;
  }

  /** The sizes of one document, which count for those of its form, too. */
  ofDocument(docForm: string | null): RowSizes {
    const form = this.#forms.get(docForm) ?? new RowSizes(this.#keepSignatures, this);
    this.#forms.set(docForm, form);
    return new RowSizes(this.#keepSignatures, form);
  }

  add(kind: SizedKind, records: readonly Listed[]): void {
    const sum = this.#sums[kind];
    sum.seen += records.length;
    for (const record of records.slice(0, Math.max(0, enough - sum.measured))) {
      const size = sizeOf(kind, record, this.#keepSignatures);
      if (size) this.#count(kind, size);
    }
  }

  /** Rows that were received, repeats included. */
  seen(kind: SizedKind): number {
    return this.#sums[kind].seen;
  }

  /** Rows that were measured. */
  measured(kind: SizedKind): number {
    return this.#sums[kind].measured;
  }

  /** The mean of one row; of a document it leans on that of its form, the more so the fewer rows were seen. */
  mean(kind: SizedKind): RowSize {
    const { measured, json, jsonl } = this.#sums[kind];
    const others = this.#whole && this.#whole.measured(kind) > 0 ? general : 0;
    const like = this.#whole?.mean(kind) ?? { json: 0, jsonl: 0 };
    const rows = Math.max(1, measured + others);
    return { json: (json + others * like.json) / rows, jsonl: (jsonl + others * like.jsonl) / rows };
  }

  #count(kind: SizedKind, size: RowSize): void {
    const sum = this.#sums[kind];
    sum.measured++;
    sum.json += size.json;
    sum.jsonl += size.jsonl;
    if (this.#whole) this.#whole.#count(kind, size);
  }
}

/** Undefined for what is nested too deeply to be written, which fails its document in a run, too. */
function sizeOf(kind: SizedKind, record: Listed, keepSignatures: boolean): RowSize | undefined {
  const { document_id = someId, segment_id = someId } = record;
  const known = { dataset_id: someId, document_id, segment_id };
  try {
    const row = rowFromRecord(kind, record, known, { keepSignatures, drift: () => {} });
    return { json: bytesOf(record), jsonl: bytesOf(row) + 1 };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** An exact number counts as a few bytes. */
function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** How many children the chunks of a document have, as far as that was told: so many chunks with so many children. */
export class ChildCounts {
  readonly #chunksWith = new Map<number, number>();
  /** Chunks of which the number is known. */
  known = 0;
  /** Children of these. */
  sum = 0;

  add(children: number): void {
    this.#chunksWith.set(children, (this.#chunksWith.get(children) ?? 0) + 1);
    this.known++;
    this.sum += children;
  }

  /** Requests that the known lists take, where the service puts so many rows on a page; an empty list takes one, too. */
  requests(size: number): number {
    return this.#sumOf((children) => pagesOf(children, size));
  }

  /** Requests of the known lists that take more than one, which a second sweep reads again. */
  requestsOfLong(size: number): number {
    return this.#sumOf((children) => (isReadTwice(children, size) ? pagesOf(children, size) : 0));
  }

  /** Children in these. */
  rowsOfLong(size: number): number {
    return this.#sumOf((children) => (isReadTwice(children, size) ? children : 0));
  }

  #sumOf(of: (children: number) => number): number {
    let sum = 0;
    for (const [children, chunks] of this.#chunksWith) sum += chunks * of(children);
    return sum;
  }
}

/** A full page does not show that its list ends with it. */
function isReadTwice(children: number, size: number): boolean {
  return children > size || children === pageSize;
}

/** Pages of a list: an empty one has one, too. */
export function pagesOf(rows: number, pageSize: number): number {
  return Math.max(1, Math.ceil(rows / pageSize));
}
