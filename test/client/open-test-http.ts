import { setMaxListeners } from "node:events";
import { onTestFinished } from "vitest";
import { type HttpOptions, openHttp } from "../../src/client/open-client.js";
import type { Answer } from "../../src/client/retry.js";

export const testKey = "dataset-Test/Key+0123=";

export interface TestHttp {
  /** GETs a path below the base URL, without a query. */
  readonly get: (path?: string) => Promise<Answer>;
  /** The number of bytes received. */
  readonly received: () => number;
}

/** The connection pool under test, closed after the test: timeout 5 s, bodies up to 1 MB. */
export function openTestHttp(baseUrl: string, options: Partial<HttpOptions> = {}): TestHttp {
  let received = 0;
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const { send, close } = openHttp({
    baseUrl,
    key: testKey,
    connections: 4,
    timeout: 5,
    maxBody: 1_000_000,
    env: {},
    signal,
    onBytes: (bytes) => {
      received += bytes;
    },
    ...options,
  });
  onTestFinished(close);
  return { get: (path = "/x") => send({ path, query: [] }), received: () => received };
}

/** Returns the error of a rejected promise. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new TypeError("rejected with what is no Error", { cause: error });
  }
  throw new Error("did not reject");
}

/** All text that printing this error could show: messages and own properties of the error and its causes. */
export function everythingOf(error: unknown): string {
  const seen = new Set<unknown>();
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString());
    for (const name of Reflect.ownKeys(value)) walk(Reflect.get(value, name));
  };
  walk(error);
  return texts.join("\n");
}
