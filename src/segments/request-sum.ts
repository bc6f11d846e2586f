import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { RequestCounts } from "../client/request-counts.js";
import { readJsonFile } from "../files/files.js";
import { count, object } from "../schema.js";

/** Requests of a run, over all the processes that worked at it. */
export type RequestSum = Pick<RequestCounts, "sent" | "retried" | "throttled" | "bytes" | "retriedBy">;

/** The file in the work folder of a run that says what its processes have asked so far. */
export const requestFile = "requests.json";

/** Milliseconds between two looks at the tally: what a kill may cost of the count. */
const every = 100;

/** The sum of requests at any moment; it is written for the last time at the end of its scope. */
interface KeptRequestSum extends AsyncDisposable {
  readonly sum: () => RequestSum;
}

/** Keeps the sum of requests in the work folder of a run, so that the process that ends the run knows of those before it. */
export async function keepRequestSum(folder: string, progress: RequestCounts): Promise<KeptRequestSum> {
  const path = join(folder, requestFile);
  const earlier = v.parse(sumSchema, await readJsonFile(path));
  const sum = () => addRequests(earlier, progress);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const written = new WrittenSum(file, sum);
  return { sum, [Symbol.asyncDispose]: () => written.close() };
}

/** Writes the sum in place whenever it has changed: the file only grows, and a kill of the process does not take it back. */
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
        () => {}, // on a full disk the count stays behind; the rows are what matters
      );
  }
}

/** The requests of both. */
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

/** The sum that an earlier process left; zeros stand for whatever is missing. */
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
