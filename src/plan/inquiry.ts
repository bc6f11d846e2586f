import type { Listed, ListPage } from "../client/check-answer.js";
import { type KnowledgeApi, pageSize } from "../client/knowledge-api.js";
import type { OnAnswer } from "../client/open-client.js";
import type { Request } from "../client/send.js";
import type { Prefetch } from "../crawl/prefetch.js";
import { SkipError } from "../errors.js";
import type { DocumentSurvey, RowSizes } from "./document-survey.js";
import type { Latency } from "./job-plan.js";

/** The parts that all questions share, and the facts about the service that they collect. */
export interface Inquiry {
  readonly api: KnowledgeApi;
  readonly prefetch: Prefetch;
  readonly sizes: RowSizes;
  readonly chunkPages: PageSize;
  readonly childPages: PageSize;
  readonly chunkTies: TieCheck;
  readonly childTies: TieCheck;
  /** Pages of chunks whose has_more was right, wrong or absent. */
  readonly hasMore: { right: number; wrong: number; absent: number };
}

/** An inquiry without facts yet. */
export function newInquiry(segments: Pick<Inquiry, "api" | "prefetch" | "sizes">): Inquiry {
  return {
    ...segments,
    chunkPages: new PageSize(),
    childPages: new PageSize(),
    chunkTies: new TieCheck(),
    childTies: new TieCheck(),
    hasMore: { right: 0, wrong: 0, absent: 0 },
  };
}

/** Reads a page of the chunks of a document, and records its sizes, page size and has_more. */
export async function readChunks(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  page: number,
  limit = pageSize,
): Promise<ListPage> {
  const list = await inquiry.api.chunks(survey.ref, page, limit);
  const { rows, total, docForm } = list;
  survey.total ??= total;
  survey.docForm ??= docForm;
  survey.sizes.add("chunks", rows);
  if (page > 1) return list;
  inquiry.chunkPages.add({ limit, rows: rows.length, total });
  seeHasMore(inquiry, list, rows.length < total);
  return list;
}

/** Counts whether has_more of a page is right; `isMore` is the truth. A page without rows does not count. */
export function seeHasMore({ hasMore }: Inquiry, { rows, hasMore: said }: ListPage, isMore: boolean): void {
  if (rows.length === 0) return;
  if (typeof said !== "boolean") hasMore.absent++;
  else if (said === isMore) hasMore.right++;
  else hasMore.wrong++;
}

/** Reads the first page of the children of a chunk, and records its sizes and page size. */
async function readChildren(
  { api, childPages }: Inquiry,
  { ref, sizes }: DocumentSurvey,
  { id }: Listed,
  limit = pageSize,
): Promise<ListPage> {
  const list = await api.childChunks(ref, id, 1, limit);
  sizes.add("child_chunks", list.rows);
  childPages.add({ limit, rows: list.rows.length, total: list.total });
  return list;
}

/** Asks how many children a chunk has; `limit` rows of them are enough. Notes a chunk that is gone by now. */
export async function askChildren(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  chunk: Listed,
  limit?: number,
): Promise<void> {
  try {
    const { rows, total } = await readChildren(inquiry, survey, chunk, limit);
    lookForChildTies(inquiry, survey, chunk, { rows, isAnswer: true });
    survey.addList(chunk, rows, total);
  } catch (error) {
    if (!(error instanceof SkipError) || error.code !== "not_found") return survey.fail(error);
    survey.doubts.add("it changed while it was read");
  }
}

/** Compares the child list of a chunk with the children that the chunk embeds, once per chunk. */
export async function sampleChunk(inquiry: Inquiry, survey: DocumentSurvey, chunk: Listed): Promise<void> {
  if (survey.sample(chunk)) await askChildren(inquiry, survey, chunk);
}

/** Reads the first page of the longest known child list, if only that shows how many child chunks fit on a page. */
export async function askLongest(inquiry: Inquiry, surveys: readonly DocumentSurvey[]): Promise<void> {
  const lengthOf = ({ longest }: DocumentSurvey) => longest?.children ?? 0;
  const [survey] = surveys.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  if (!survey?.longest || inquiry.childPages.isCertainFor(survey.longest.children)) return;
  await readChildren(inquiry, survey, survey.longest.chunk).catch((error) => survey.doubt(error));
}

/** Offers a full page of chunks to the search for ties. */
export function lookForTies(inquiry: Inquiry, survey: DocumentSurvey, page: number, rows: readonly Listed[]): void {
  const ask = async () => (await readChunks(inquiry, survey, page)).rows;
  inquiry.chunkTies.offer({ rows, isAnswer: true, ask });
}

/** Offers children of a chunk to the search for ties, from its list or embedded in it. Call it once per chunk. */
export function lookForChildTies(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  chunk: Listed,
  seen: { readonly rows: readonly Listed[]; readonly isAnswer: boolean },
): void {
  const ask = async () => (await readChildren(inquiry, survey, chunk)).rows;
  inquiry.childTies.offer({ ...seen, ask });
}

/** Learns how many rows a service puts on a page of one kind of list when asked for 100. */
export class PageSize {
  #cap: number | undefined;
  #whole = 0;
  #paged = true;

  /** Learns from page 1 of a list. */
  add(page: { readonly limit: number; readonly rows: number; readonly total: number }): void {
    if (page.rows > page.limit && page.rows === page.total) this.#paged = false;
    if (page.limit < pageSize && page.rows !== page.total) return;
    if (page.rows < page.total) this.#cap = Math.max(this.#cap ?? 0, page.rows);
    else this.#whole = Math.max(this.#whole, page.rows);
  }

  /** The most rows that a page was seen to hold while more were left; undefined where none was. */
  get cap(): number | undefined {
    return this.#cap;
  }

  /** False: everything comes on page 1, whatever is asked. */
  get isPaged(): boolean {
    return this.#paged;
  }

  /** Rows to a page, to count by: infinite where paging is ignored; what was asked where nothing else is known. */
  get rows(): number {
    if (!this.#paged) return Number.POSITIVE_INFINITY;
    return this.#cap ?? Math.max(pageSize, this.#whole);
  }

  /** Whether it is certain how many pages a list of so many rows has. */
  isCertainFor(rows: number): boolean {
    return !this.#paged || this.#cap !== undefined || rows <= Math.max(1, this.#whole);
  }
}

/** Everything that was noticed while a service was asked. */
export interface Evidence extends Pick<Inquiry, "chunkPages" | "childPages" | "chunkTies" | "childTies" | "hasMore"> {
  readonly answers: AnswerLog;
  readonly surveys: readonly DocumentSurvey[];
  /** Whether page 2 brings the rows of page 1; undefined if nothing showed it. */
  readonly pagesRepeat: boolean | undefined;
  /** Datasets that have no list of metadata fields, as on older services. */
  readonly withoutFields: number;
  /** Requests that were refused as too many. */
  readonly throttled: number;
}

/** Requests whose latencies are alike: a full page of chunks, fewer chunks, a child list, all others. */
type AnswerKind = "chunk_page" | "chunk" | "child_list" | "other";

/** Latencies kept of each kind: enough for percentiles, and bounded however many answers come. */
const kept = 5_000;

/** The answers of one kind. */
class AnswerSample {
  answers = 0;
  bytes = 0;
  readonly #milliseconds: number[] = [];

  add(bytes: number, milliseconds: number): void {
    this.answers++;
    this.bytes += bytes;
    if (this.#milliseconds.length < kept) this.#milliseconds.push(milliseconds);
  }

  get latency(): Latency {
    const sorted = this.#milliseconds.toSorted((a, b) => a - b);
    const at = (share: number) => {
      const milliseconds = sorted[Math.ceil(share * sorted.length) - 1];
      return milliseconds === undefined ? null : Math.round(milliseconds * 10) / 10_000;
    };
    return { median_seconds: at(0.5), p95_seconds: at(0.95), answers: this.answers };
  }
}

/** Records the latency, size and encoding of every answer to a plan. */
export class AnswerLog {
  /** The encodings that were used; empty if no answer was compressed. */
  readonly encodings = new Set<string>();
  /** Bytes of all bodies: by their content-length, or decompressed where the service sends none. */
  bytes = 0;
  readonly #samples: Readonly<Record<AnswerKind, AnswerSample>> = {
    chunk_page: new AnswerSample(),
    chunk: new AnswerSample(),
    child_list: new AnswerSample(),
    other: new AnswerSample(),
  };

  readonly add: OnAnswer = (request, { status, headers, body }, milliseconds) => {
    const encoding = String(headers["content-encoding"] ?? "identity").toLowerCase();
    if (encoding !== "identity") this.encodings.add(encoding);
    const length = Number(headers["content-length"]);
    const bytes = length > 0 ? length : body.length;
    this.bytes += bytes;
    if (status === 200) this.#samples[kindOf(request)].add(bytes, milliseconds);
  };

  of(kind: AnswerKind): Readonly<Pick<AnswerSample, "answers" | "bytes" | "latency">> {
    return this.#samples[kind];
  }
}

function kindOf({ path, query }: Request): AnswerKind {
  if (path.endsWith("/child_chunks")) return "child_list";
  if (!path.endsWith("/segments")) return "other";
  return query.some(([name, value]) => name === "limit" && value === "100") ? "chunk_page" : "chunk";
}

/** Rows that have the position of an earlier one; those without a number are passed over. */
export function collisionsIn(rows: readonly Listed[]): number {
  const positions = rows.map(({ position }) => position).filter((position) => typeof position === "number");
  return positions.length - new Set(positions).size;
}

/** Rows of one list that were seen, and how to ask for them. */
interface SeenRows {
  readonly rows: readonly Listed[];
  readonly ask: () => Promise<readonly Listed[]>;
  /** Whether the rows are an answer to `ask`; false for those that were seen elsewhere, perhaps in another order. */
  readonly isAnswer: boolean;
}

/** Counts rows and collisions, and keeps the rows in which most positions collide, to ask for them again. */
export class TieCheck {
  rows = 0;
  collisions = 0;
  /** Whether rows with one position come in the same order when read twice; undefined where that is not known. */
  holds: boolean | undefined;
  #worst: SeenRows | undefined;
  #most = 0;

  offer(seen: SeenRows): void {
    const collisions = collisionsIn(seen.rows);
    this.rows += seen.rows.length;
    this.collisions += collisions;
    if (collisions <= this.#most) return;
    this.#worst = seen;
    this.#most = collisions;
  }

  /** Asks again for the rows in which most positions collide; they may be gone by now. */
  async askAgain(): Promise<void> {
    if (!this.#worst) return;
    const { rows, ask, isAnswer } = this.#worst;
    try {
      this.holds = isSameOrder(isAnswer ? rows : await ask(), await ask());
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
    }
  }
}

/** Whether two readings give the same rows in the same order. */
export function isSameOrder(one: readonly Listed[], other: readonly Listed[]): boolean {
  return one.length === other.length && one.every(({ id }, at) => id === other[at]?.id);
}
