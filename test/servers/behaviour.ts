import type { Fault } from "./faults.js";
import type { Json } from "./json.js";
import type { RateLimit } from "./rate-limit.js";
import type { Store } from "./store.js";

/** A request as the server saw it. */
export interface RequestRecord {
  readonly method: string;
  /** Percent-encoded as sent, from `/v1` on, without the query. */
  readonly path: string;
  /** As sent, without the question mark; the empty string when there is none. */
  readonly query: string;
  /** Only accept, accept-encoding, authorization, cache-control, content-length, content-type and user-agent. */
  readonly headers: Readonly<Record<string, string>>;
  /** When it arrived, in milliseconds since 1970, with fractions. */
  readonly at: number;
  /** How often this method and exact URL had been asked before. */
  readonly nth: number;
  /** Requests being answered when this one arrived, itself included, those that the client had given up not. */
  inFlight: number;
  /** The status that was sent; 0 when none was. */
  status: number;
  /** The fault that was put into the answer. */
  fault: Fault["kind"] | undefined;
}

/**
 * How the server differs from a fast, honest one. The object that was given to the server may be changed while it runs:
 * every request is answered by what it says at that moment.
 */
export interface Behaviour {
  /** Default honest. rows-equal-limit compares with the limit asked, so that it is false where a page was capped. */
  hasMore?: "honest" | "rows-equal-limit" | "always-false" | "always-true" | "absent";
  /** Most rows of a page, whatever is asked; `limit` in the answer still says what was asked. Default 100. */
  pageCap?: number;
  /** ignored: everything on every page, and only data, doc_form and total. same-page: page 1 always. Default normal. */
  paging?: "normal" | "ignored" | "same-page";
  /** Whether it answers the details of a dataset, as recent servers do. Default true. */
  details?: boolean;
  /** The route that gives the address of an original: that of Dify until 1.8, from 1.13.1 on, or between the two. Default upload-file. */
  originals?: "upload-file" | "download" | "none";
  /** shuffled: neighbours with one position, and entries of a batch, come in another order at every request. */
  ties?: "stable" | "shuffled";
  /** Compress what a client accepts compressed: true is gzip. */
  gzip?: boolean | "deflate" | "br";
  /** Send bodies in small chunks without content-length; the cuts fall inside characters, too. */
  chunked?: boolean;
  /** Milliseconds before an answer is made. */
  latency?: number | ((request: RequestRecord) => number);
  rateLimit?: RateLimit;
  /** Asked for every GET; `nth` is how often this exact URL was asked before. */
  faults?: (request: RequestRecord, nth: number) => Fault | undefined;
  /** Called just before an answer is made, in one step with it: the place to edit the store between two pages. */
  onRequest?: (request: RequestRecord, store: Store) => void;
  /** Document id → what its chunk list and child lists answer instead of rows. */
  documentError?: Map<string, { readonly status: number; readonly body: Json }>;
  /** Id of a chunk or child chunk → what every page answers on which it would stand. */
  unrendered?: ReadonlyMap<string, { readonly status: number; readonly code: string; readonly message: string }>;
  /** A cache in between: answers each URL as it did the first time, unless the request says `Cache-Control: no-cache`. */
  cache?: boolean;
  /** Keep the bodies of chunk pages and send them again: only for a store at rest. Links are then signed once. */
  cacheBodies?: boolean;
  /** Sign links to files anew at every read, as real servers do. Default true. */
  resign?: boolean;
  /** Seed of what is shuffled. Default 1. */
  seed?: number;
}
