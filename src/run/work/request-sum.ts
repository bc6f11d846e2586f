import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { RequestTally } from "../../client/request-tally.js";
import { readJsonFile } from "../../dump/files/json-file.js";

/** Requests of a run, over all the processes that worked at it. */
export type RequestSum = Pick<RequestTally, "sent" | "retried" | "throttled" | "bytes" | "retriedBy">;

/** The file in the work folder of a run that says what its processes have asked so far. */
export const requestFile = "requests.json";

/** Milliseconds between two looks at the tally: what a kill may cost of the count. */
const every = 100;

/**
 * Keeps the sum of requests in the work folder of a run while `work` goes on, so that the process that ends the run knows of
 * those before it. `work` is given what gives the sum at any moment.
 */
export async function withRequestSum<T>(
  folder: string,
  tally: RequestTally,
  work: (sum: () => RequestSum) => Promise<T>,
): Promise<T> {
  const path = join(folder, requestFile);
  const earlier = sumFrom(await readJsonFile(path));
  const sum = () => added(earlier, tally);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const written = new WrittenSum(file, sum);
  try {
    return await work(sum);
  } finally {
    await written.close();
  }
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

function added(earlier: RequestSum, tally: RequestTally): RequestSum {
  const reasons = [...new Set([...Object.keys(earlier.retriedBy), ...Object.keys(tally.retriedBy)])];
  const retriedBy = reasons.map((reason) => [
    reason,
    (earlier.retriedBy[reason] ?? 0) + (tally.retriedBy[reason] ?? 0),
  ]);
  return {
    sent: earlier.sent + tally.sent,
    retried: earlier.retried + tally.retried,
    throttled: earlier.throttled + tally.throttled,
    bytes: earlier.bytes + tally.bytes,
    retriedBy: Object.fromEntries(retriedBy),
  };
}

/** What an earlier process left; nothing where there is no such thing. */
function sumFrom(value: unknown): RequestSum {
  const given = typeof value === "object" && value !== null ? { ...value } : {};
  const { sent, retried, throttled, bytes, retriedBy } = given as Partial<Record<keyof RequestSum, unknown>>;
  const reasons = typeof retriedBy === "object" && retriedBy !== null ? Object.entries(retriedBy) : [];
  return {
    sent: countFrom(sent),
    retried: countFrom(retried),
    throttled: countFrom(throttled),
    bytes: countFrom(bytes),
    retriedBy: Object.fromEntries(reasons.map(([reason, count]) => [reason, countFrom(count)])),
  };
}

function countFrom(value: unknown): number {
  const count = Number(value);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}
