import type { Behaviour } from "../servers/behaviour.js";
import type { Fault } from "../servers/faults.js";
import type { RateLimit } from "../servers/rate-limit.js";

/** Everything that a seed decides before the simulation starts. The times of events are drawn during it. */
export interface Scenario {
  readonly seed: number;
  readonly documents: readonly DocumentShape[];
  readonly job: JobShape;
  readonly service: ServiceShape;
  readonly faults: FaultShape;
  readonly edits: EditShape;
  /** One for each process that ends early. */
  readonly interruptions: readonly Interruption[];
}

export interface DocumentShape {
  readonly chunks: number;
  /** Chunk number n has n modulo `few` children. */
  readonly few: number;
  /** A chunk has `big` children instead if `bigEvery` divides its number. */
  readonly bigEvery: number;
  readonly big: number;
  /** This many chunks in a row share a position; 0: every chunk has its own. */
  readonly ties: number;
  /** Whether children share positions. */
  readonly childTies: boolean;
  /** Numbers of the chunks that the service cannot render, and the status of its answer for a page with such a chunk. */
  readonly unreadable: { readonly chunks: readonly number[]; readonly status: number };
  /** The error that the service answers for the lists of this document, at every request. */
  readonly refused: Refused | undefined;
  readonly form: "text_model" | "hierarchical_model";
  /** Whether its chunks also embed their children; only in hierarchical_model. */
  readonly embeds: boolean;
  /** Whether it always embeds the original children, even after edits. */
  readonly embedsOld?: boolean;
}

export interface Refused {
  readonly status: number;
  readonly code: string;
}

export interface JobShape {
  readonly childChunks: "all" | "auto" | "none";
  readonly consistency: "sweeps" | "anchored" | "counts";
  /** The source of the job's documents. named: the job names every document. all: the run lists them from the service. */
  readonly documents: "named" | "all";
  readonly concurrency: number;
  readonly retries: number;
  readonly maxRps: number | undefined;
  /** The timeout of a request, in seconds. */
  readonly timeout: number;
  readonly formats: readonly ("jsonl" | "csv")[];
}

export interface ServiceShape extends Pick<Behaviour, "hasMore" | "pageCap" | "paging" | "ties"> {
  readonly rateLimit: RateLimit | undefined;
  /** Whether a cache in between returns old answers, unless the request asks for fresh ones. */
  readonly cache: boolean;
  /** Seconds that the Date header is ahead of the times in rows. */
  readonly clockAhead?: number;
  /** How many milliseconds a request takes to the service, and an answer back. */
  readonly latency: readonly [low: number, high: number];
}

/** A fault of an answer: a fault that the test server supports, or a delay in milliseconds. */
export type AnyFault = Fault | { readonly kind: "slow"; readonly milliseconds: number };

export interface FaultShape {
  readonly kinds: readonly AnyFault[];
  /** The share of requests with a fault. */
  readonly rate: number;
  /** Maximum faults in a row for one URL. */
  readonly inARow: number;
  /** The share of wrong answers: an empty page, or page 1 instead of another. */
  readonly lies: number;
  /** The share of pages that the service can only answer in pieces of at most `heavyLimit` rows. */
  readonly heavy: number;
  readonly heavyLimit: number;
  /** The number of the first request that rejects the key. */
  readonly revokedAt: number | undefined;
}

/**
 * The effect of an edit. append: adds a chunk after the greatest position, as the service does. late append: the same, but the row is
 * stored some answers after the add took its position; some such adds start before the simulation, and rows with greater positions
 * are already stored. append at once: adds a chunk at the greatest position, which two concurrent requests may both get. insert:
 * adds a chunk anywhere. replace: a delete anywhere and an append at the same moment. trade: two chunks trade positions. content
 * back: a chunk gets a content that may have existed before. undo: a whole state comes back.
 */
export type EditKind =
  | "append"
  | "late append"
  | "append at once"
  | "delete"
  | "replace"
  | "insert"
  | "trade"
  | "content"
  | "answer"
  | "content back"
  | "re-index"
  | "delete child"
  | "add child"
  | "replace child"
  | "child content"
  | "add document"
  | "drop document"
  | "replace document"
  | "undo";

export interface EditShape {
  readonly kinds: readonly EditKind[];
  /** The share of requests preceded by an edit. */
  readonly rate: number;
  readonly most: number;
  /** Edits before certain requests, in addition to the random ones. */
  readonly script?: readonly ScriptedEdit[];
}

/** An edit just before the answer to the `nth` request, from 1, whose target contains the text `before`. */
export interface ScriptedEdit {
  readonly before: string;
  readonly nth?: number;
  /** Numbers of the chunks to delete from the first document. */
  readonly deleted?: readonly number[];
  /** Positions of chunks to add. */
  readonly added?: readonly number[];
  /** Numbers of the documents to drop, and how many to add. */
  readonly dropped?: readonly number[];
  readonly addedDocuments?: number;
}

/** A process that ends early, after this many steps: requests and file operations. */
export interface Interruption {
  readonly kind: "kill" | "power cut" | "disk full" | "signal";
  readonly after: number;
  /** Milliseconds until the next process starts, and the number of edits until then. */
  readonly gap: number;
  readonly edits: number;
}
