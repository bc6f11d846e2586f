import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { RequestCounts } from "../client/request-counts.js";
import { readJsonFile } from "../files/files.js";
import { count, object } from "../schema.js";

/** Requests that several processes sent: all of one run, or those of a worker since its last result. */
export const requestSumSchema = object({
  sent: count,
  answered: count,
  retried: count,
  throttled: count,
  bytes: count,
  retriedBy: v.record(v.string(), count),
});

export type RequestSum = v.InferOutput<typeof requestSumSchema>;

export const noRequests: RequestSum = { sent: 0, answered: 0, retried: 0, throttled: 0, bytes: 0, retriedBy: {} };

/** The file in a run's work folder with the request counts of all its processes so far. */
export const requestFile = "requests.json";

/** Milliseconds between two writes of the sum. A kill loses at most the requests of that time. */
const every = 100;

/** The current sum of requests. It is written a last time at the end of its scope. */
interface KeptRequestSum extends AsyncDisposable {
  readonly sum: () => RequestSum;
}

/** Keeps the request counts in a run's work folder, so that the last process of the run can add those of earlier ones. */
export async function keepRequestSum(folder: string, progress: RequestCounts): Promise<KeptRequestSum> {
  const path = join(folder, requestFile);
  const earlier = v.parse(v.fallback(requestSumSchema, noRequests), await readJsonFile(path));
  const sum = () => addRequests(earlier, progress);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const written = new WrittenSum(file, sum);
  return { sum, [Symbol.asyncDispose]: () => written.close() };
}

/** Writes the sum over the old text whenever it changed. Counts only grow, so the text never gets shorter. */
class WrittenSum {
  readonly #file: FileHandle;
  readonly #sum: () => RequestSum;
  readonly #timer: NodeJS.Timeout;
  #text = "";
  #writing: Promise<void> = Promise.resolve();

  constructor(file: FileHandle, sum: () => RequestSum) {
    this.#file = file;
    this.#sum = sum;
    this.#timer = setInterval(() => this.#write(), every).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#write();
    await this.#writing;
    await this.#file.close();
  }

  #write(): void {
    const text = JSON.stringify(this.#sum());
    if (text === this.#text) return;
    this.#text = text;
    this.#writing = this.#writing
      .then(() => this.#file.write(text, 0))
      .then(
        () => {},
        () => {}, // on a full disk the stored counts are too low, which does no harm
      );
  }
}

/** Adds two sums; subtracts the second with -1. */
export function addRequests(one: RequestSum, other: RequestSum, sign: 1 | -1 = 1): RequestSum {
  const reasons = Object.keys({ ...one.retriedBy, ...other.retriedBy });
  const times = reasons.map((reason) => [reason, (one.retriedBy[reason] ?? 0) + sign * (other.retriedBy[reason] ?? 0)]);
  return {
    sent: one.sent + sign * other.sent,
    answered: one.answered + sign * other.answered,
    retried: one.retried + sign * other.retried,
    throttled: one.throttled + sign * other.throttled,
    bytes: one.bytes + sign * other.bytes,
    retriedBy: Object.fromEntries(times),
  };
}
