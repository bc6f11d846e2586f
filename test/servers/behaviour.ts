import type { Fault } from "./faults.js";
import type { Json } from "./json.js";
import type { RateLimit } from "./rate-limit.js";
import type { Store } from "./store.js";

/** A request that the server received. */
export interface RequestRecord {
  readonly method: string;
  /** The path without the query: starts with `/v1`, percent-encoded as sent. */
  readonly path: string;
  /** The query as the client sent it, without the question mark; empty if there is none. */
  readonly query: string;
  /** Only accept, accept-encoding, authorization, cache-control, content-length, content-type and user-agent. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the request arrived, in milliseconds since 1970, with fractions. */
  readonly at: number;
  /** The number of earlier requests with the same method and exact URL. */
  readonly nth: number;
  /** Requests in progress when this one arrived, including itself, except requests that the client gave up. */
  inFlight: number;
  /** The status sent; 0 if none was sent. */
  status: number;
  /** The fault that the answer had, if any. */
  fault: Fault["kind"] | undefined;
}

/**
 * How the server differs from a fast, honest one. You can change the object while the server runs: each answer uses the current values.
 */
export interface Behaviour {
  /** Default honest. rows-equal-limit compares with the requested limit, so has_more is false if the page was capped. */
  hasMore?: "honest" | "rows-equal-limit" | "always-false" | "always-true" | "absent";
  /** Maximum rows per page. `limit` in the answer still shows the requested limit. Default 100. */
  pageCap?: number;
  /**
   * How the server treats `page`. ignored: every page has all rows, and only data, doc_form and total. same-page: always page 1.
   * Default normal.
   */
  paging?: "normal" | "ignored" | "same-page";
  /** Whether it answers the details of a dataset, as recent servers do. Default true. */
  details?: boolean;
  /** The route for originals: upload-file in Dify until 1.8, download since 1.13.1, none in between. Default upload-file. */
  originals?: "upload-file" | "download" | "none";
  /** The order of equal rows. shuffled: rows with equal positions, and entries of a batch, change their order at every request. */
  ties?: "stable" | "shuffled";
  /** Compress answers if the client accepts that. true: gzip. */
  gzip?: boolean | "deflate" | "br";
  /** Send bodies in small chunks without content-length. The chunks also split characters. */
  chunked?: boolean;
  /** Milliseconds before an answer is made. */
  latency?: number | ((request: RequestRecord) => number);
  rateLimit?: RateLimit;
  /** Returns the fault for a GET. `nth`: the number of earlier requests for this exact URL. */
  faults?: (request: RequestRecord, nth: number) => Fault | undefined;
  /** Called right before an answer is created, in the same tick. Use it to edit the store between two pages. */
  onRequest?: (request: RequestRecord, store: Store) => void;
  /** Document id → the answer of its chunk list and child lists instead of rows. */
  documentError?: Map<string, { readonly status: number; readonly body: Json }>;
  /** Id of a chunk or child chunk → the error of every page that would contain it. */
  unrendered?: ReadonlyMap<string, { readonly status: number; readonly code: string; readonly message: string }>;
  /** A cache in between: repeats the first answer for each URL, unless the request has `Cache-Control: no-cache`. */
  cache?: boolean;
  /** Cache the bodies of chunk pages. Only for a store that does not change. Links are then signed only once. */
  cacheBodies?: boolean;
  /** Sign links to files again at every read, like real servers. Default true. */
  resign?: boolean;
  /** The seed for shuffling. Default 1. */
  seed?: number;
}
