import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { RequestCounts } from "../client/request-counts.js";
import { readJsonFile } from "../files/files.js";
import { count, object } from "../schema.js";

/** Requests of a run, summed over all its processes. */
export type RequestSum = Pick<RequestCounts, "sent" | "retried" | "throttled" | "bytes" | "retriedBy">;

/** The file in a run's work folder with the request counts of all its processes so far. */
export const requestFile = "requests.json";

/** Milliseconds between writes. A kill loses at most the counts of this time. */
const every = 100;

/** The current sum of requests. It is written a last time at the end of its scope. */
interface KeptRequestSum extends AsyncDisposable {
  readonly sum: () => RequestSum;
}

/** Keeps the sum of requests in a run's work folder, so that the last process of the run can add those of earlier ones. */
export async function keepRequestSum(folder: string, progress: RequestCounts): Promise<KeptRequestSum> {
  const path = join(folder, requestFile);
  const earlier = v.parse(sumSchema, await readJsonFile(path));
  const sum = () => addRequests(earlier, progress);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const written = new WrittenSum(file, sum);
  return { sum, [Symbol.asyncDispose]: () => written.close() };
}

/** Writes the sum in place whenever it changed. Counts only grow, so the text never gets shorter and covers the old one. */
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

/** Adds the requests of two processes. */
export function addRequests(earlier: RequestSum, progress: RequestSum): RequestSum {
  const reasons = [...new Set([...Object.keys(earlier.retriedBy), ...Object.keys(progress.retriedBy)])];
  const retriedBy = reasons.map((reason) => [
    reason,
    (earlier.retriedBy[reason] ?? 0) + (progress.retriedBy[reason] ?? 0),
  ]);
  return {
    sent: earlier.sent + progress.sent,
    retried: earlier.retried + progress.retried,
    throttled: earlier.throttled + progress.throttled,
    bytes: earlier.bytes + progress.bytes,
    retriedBy: Object.fromEntries(retriedBy),
  };
}

const countOrNone = v.fallback(count, 0);

/** The sum that an earlier process stored. Missing counts are 0. */
const sumSchema = v.fallback(
  object({
    sent: countOrNone,
    retried: countOrNone,
    throttled: countOrNone,
    bytes: countOrNone,
    retriedBy: v.fallback(v.record(v.string(), countOrNone), {}),
  }),
  { sent: 0, retried: 0, throttled: 0, bytes: 0, retriedBy: {} },
);
