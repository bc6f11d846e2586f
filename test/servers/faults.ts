import type { RequestRecord } from "./behaviour.js";
import { hashOf } from "./random.js";

/** A fault in one answer. */
export type Fault =
  /** The connection is reset before anything is sent, or is closed in the middle of the body. */
  | { readonly kind: "reset-before" | "reset-mid-body" }
  /** Another status. `json`: an error of the service. `html`: an error of a proxy. Default json. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly body?: "json" | "html" | "empty";
      readonly headers?: Readonly<Record<string, string>>;
      readonly code?: string;
      readonly message?: string;
    }
  /** 200 with an error body, or with a body that is truncated, not JSON, or not UTF-8. */
  | { readonly kind: "ok-with-error-body" | "truncated-json" | "invalid-json" | "not-utf8" }
  /** A body that never ends, or one that never starts. */
  | { readonly kind: "endless-body" | "hang" }
  /** A small gzip body that decompresses to `bytes` (default 256 MiB). */
  | { readonly kind: "gzip-bomb"; readonly bytes?: number }
  /** The correct body, one byte every `everyMs` (default 1000). */
  | { readonly kind: "drip"; readonly everyMs?: number }
  | { readonly kind: "redirect"; readonly location: string; readonly status?: 301 | 302 | 303 | 307 | 308 }
  /** An empty page instead of rows, or the rows of page 1 under the requested page number. */
  | { readonly kind: "empty-page" | "repeated-page" }
  /** The correct body without `data`, without `total`, or without the `id` of the first row. */
  | { readonly kind: "missing-data" | "missing-total" | "missing-id" };

export type Faults = (request: RequestRecord, nth: number) => Fault | undefined;

const transient: readonly Fault[] = [
  { kind: "reset-before" },
  { kind: "reset-mid-body" },
  { kind: "status", status: 500 },
  { kind: "status", status: 502, body: "html" },
  { kind: "status", status: 503 },
  { kind: "status", status: 429, headers: { "retry-after": "0" } },
  { kind: "truncated-json" },
  { kind: "invalid-json" },
];

/**
 * A random mixture of transient faults in about `rate` (0 to 1) of the requests, and at most `upTo` times in a row for one URL. The
 * faults depend only on seed, URL and `nth`, not on the order of requests.
 */
export function randomTransientFaults(seed: number, rate: number, upTo: number): Faults {
  const diceOf = (url: string, nth: number) => hashOf(`${seed} ${nth} ${url}`) / 2 ** 32;
  return ({ method, path, query }, nth) => {
    const url = `${method} ${path}?${query}`;
    let inARow = 0;
    for (let time = 0; time <= nth; time++) {
      inARow = diceOf(url, time) < rate && inARow < upTo ? inARow + 1 : 0;
    }
    return inARow > 0 ? transient[hashOf(`kind ${seed} ${nth} ${url}`) % transient.length] : undefined;
  };
}

/** The same fault for the first `times` requests of every URL that matches (Infinity: always). By default, all URLs match. */
export function firstTimes(times: number, fault: Fault, matches: RegExp | string = ""): Faults {
  return ({ path, query }, nth) => {
    const url = query === "" ? path : `${path}?${query}`;
    const hit = typeof matches === "string" ? url.includes(matches) : matches.test(url);
    return hit && nth < times ? fault : undefined;
  };
}

/** Combines rules. The first rule with a fault for a request wins. */
export function firstOf(...rules: readonly Faults[]): Faults {
  return (request, nth) => {
    for (const rule of rules) {
      const fault = rule(request, nth);
      if (fault) return fault;
    }
    return undefined;
  };
}
