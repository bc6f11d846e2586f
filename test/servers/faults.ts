import type { RequestRecord } from "./behaviour.js";
import { hashOf } from "./random.js";

/** A fault in one answer. */
export type Fault =
  /** The connection is reset: before anything was sent, or closed in the middle of the body. */
  | { readonly kind: "reset-before" | "reset-mid-body" }
  /** Another status. `json` is an error as the service words it, `html` one of a proxy in front. Default json. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly body?: "json" | "html" | "empty";
      readonly headers?: Readonly<Record<string, string>>;
      readonly code?: string;
      readonly message?: string;
    }
  /** 200 with an error body; 200 with a body that is cut off, no JSON, or no UTF-8. */
  | { readonly kind: "ok-with-error-body" | "truncated-json" | "invalid-json" | "not-utf8" }
  /** A body without an end; one that never begins. */
  | { readonly kind: "endless-body" | "hang" }
  /** A small gzip body that is `bytes` long (default 256 MiB) when unpacked. */
  | { readonly kind: "gzip-bomb"; readonly bytes?: number }
  /** The right body, one byte every `everyMs` (default 1000). */
  | { readonly kind: "drip"; readonly everyMs?: number }
  | { readonly kind: "redirect"; readonly location: string; readonly status?: 301 | 302 | 303 | 307 | 308 }
  /** A page without rows though there are some; the rows of page 1 under the number that was asked. */
  | { readonly kind: "empty-page" | "repeated-page" }
  /** The right body without `data`, without `total`, or with a first row without `id`. */
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
 * A random mixture of transient faults that hits about `rate` (0 to 1) of the requests, and one URL never more than
 * `upTo` times in a row. What hits depends on seed, URL and `nth` alone, not on the order of requests.
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

/** The same fault the first `times` times that a URL is asked (Infinity: always), of all URLs or of those that match. */
export function firstTimes(times: number, fault: Fault, matches: RegExp | string = ""): Faults {
  return ({ path, query }, nth) => {
    const url = query === "" ? path : `${path}?${query}`;
    const hit = typeof matches === "string" ? url.includes(matches) : matches.test(url);
    return hit && nth < times ? fault : undefined;
  };
}

/** Several rules as one: the first that has a fault for a request wins. */
export function firstOf(...rules: readonly Faults[]): Faults {
  return (request, nth) => {
    for (const rule of rules) {
      const fault = rule(request, nth);
      if (fault) return fault;
    }
    return undefined;
  };
}
