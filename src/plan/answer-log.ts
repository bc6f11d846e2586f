import type { DocumentRef } from "../client/knowledge-api.js";
import type { OnAnswer } from "../client/open-client.js";
import { type Answer, percentEncoded, type Request } from "../client/send.js";
import { AnswerSum, DocumentBytes, type RowBytes } from "./document-bytes.js";
import { HasMoreCount } from "./has-more.js";

/** Requests whose latencies and sizes are alike: a chunk or a few, a page of chunks, a child list, all others. */
export type AnswerKind = "chunk" | "chunk_page" | "child_list" | "other";

/** What the answers of one kind add up to. */
export interface KindSample extends RowBytes {
  /** Milliseconds, the median; undefined without an answer. */
  readonly latency: number | undefined;
}

/** Latencies that are kept of each kind: enough for a median, however many answers come. */
const kept = 5_000;

/** Looks at every answer of a client and remembers what can be told from it: latency, size, clock, encoding, has_more. */
export class AnswerLog {
  readonly hasMore = new HasMoreCount();
  /** Bytes of all bodies, as received where the service says how many, else decompressed. */
  bytes = 0;
  readonly encodings = new Map<string, number>();
  readonly #now: () => Date;
  readonly #clock: number[] = [];
  readonly #kinds = new Map<AnswerKind, { readonly latencies: number[]; readonly sum: AnswerSum }>();
  /** By the path of the document. */
  readonly #documents = new Map<string, DocumentBytes>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  readonly add: OnAnswer = (request, answer, milliseconds) => {
    const bytes = lengthOf(answer);
    this.bytes += bytes;
    this.#addClock(answer, milliseconds);
    const encoding = String(answer.headers["content-encoding"] ?? "identity").toLowerCase();
    this.encodings.set(encoding, (this.encodings.get(encoding) ?? 0) + 1);
    if (answer.status !== 200) return;
    const { page, limit } = pagingOf(request);
    const kind = kindOf(request, limit);
    const { latencies, sum } = this.#kinds.get(kind) ?? { latencies: [], sum: new AnswerSum() };
    this.#kinds.set(kind, { latencies, sum });
    if (latencies.length < kept) latencies.push(milliseconds);
    const list = listIn(answer);
    const size = { answers: 1, rows: list?.rows ?? 0, bytes };
    sum.add(size);
    if (kind === "chunk") this.#documentAt(request.path).alone.add(size);
    if (kind === "chunk_page") this.#documentAt(request.path).addPage(page, size);
    if (kind === "child_list") this.#documentAt(request.path).lists.add(size);
    if (list && (kind === "chunk" || kind === "chunk_page")) this.hasMore.add({ ...list, page, limit });
  };

  of(kind: AnswerKind): KindSample {
    const { latencies = [], sum = new AnswerSum() } = this.#kinds.get(kind) ?? {};
    const { answers, rows, bytes } = sum;
    return { latency: median(latencies), answers, rows, bytes };
  }

  ofDocument({ datasetId, documentId }: DocumentRef): DocumentBytes {
    return this.#documentAt(`/datasets/${percentEncoded(datasetId)}/documents/${percentEncoded(documentId)}`);
  }

  /** Whether some answers came compressed. */
  get isCompressed(): boolean {
    return [...this.encodings.keys()].some((encoding) => encoding !== "identity");
  }

  /** `path` begins with that of the document. */
  #documentAt(path: string): DocumentBytes {
    const place = path.split("/", 5).join("/");
    const document = this.#documents.get(place) ?? new DocumentBytes();
    this.#documents.set(place, document);
    return document;
  }

  /** Seconds by which the clock of the service is ahead of ours; undefined where no answer had a date. */
  get clockAhead(): number | undefined {
    return median(this.#clock);
  }

  /** The header has whole seconds, cut off: in the mean it is half a second behind. */
  #addClock({ headers }: Answer, milliseconds: number): void {
    const date = Date.parse(String(headers.date));
    if (Number.isNaN(date) || this.#clock.length >= kept) return;
    this.#clock.push((date + 500 - (this.#now().getTime() - milliseconds / 2)) / 1000);
  }
}

/** The middle one; of an even number the lower of the two. Undefined of none. */
export function median(numbers: readonly number[]): number | undefined {
  return [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)];
}

function lengthOf({ headers, body }: Answer): number {
  const length = Number(headers["content-length"]);
  return Number.isSafeInteger(length) && length > 0 ? length : body.length;
}

function kindOf({ path }: Request, limit: number): AnswerKind {
  if (path.endsWith("/child_chunks")) return "child_list";
  if (!path.endsWith("/segments")) return "other";
  return limit < 100 ? "chunk" : "chunk_page";
}

function pagingOf({ query }: Request): { readonly page: number; readonly limit: number } {
  const numberOf = (name: string) => Number(query.find(([key]) => key === name)?.[1] ?? 1);
  return { page: numberOf("page"), limit: numberOf("limit") };
}

/** What a body says of its list; undefined for anything else, of which the client makes an error. */
function listIn({ body }: Answer): { rows: number; total: number; said: unknown } | undefined {
  try {
    const { data, total, has_more: said } = JSON.parse(Buffer.from(body).toString());
    return Array.isArray(data) ? { rows: data.length, total: Number(total), said } : undefined;
  } catch {
    return undefined;
  }
}
