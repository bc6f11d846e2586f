import type { OnAnswer } from "../client/open-client.js";
import type { Request } from "../client/send.js";
import type { Latency } from "./job-plan.js";

/** Requests whose latencies are alike: a full page of chunks, fewer chunks, a child list, all others. */
export type AnswerKind = "chunk_page" | "chunk" | "child_list" | "other";

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
