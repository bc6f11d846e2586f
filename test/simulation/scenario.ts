import type { Behaviour } from "../servers/behaviour.js";
import type { Fault } from "../servers/faults.js";
import type { RateLimit } from "../servers/rate-limit.js";

/** Everything that a seed decides before the simulation begins. The moments of events are drawn on the way. */
export interface Scenario {
  readonly seed: number;
  readonly documents: readonly DocumentShape[];
  readonly job: JobShape;
  readonly service: ServiceShape;
  readonly faults: FaultShape;
  readonly edits: EditShape;
  /** One for each process that does not live to its end. */
  readonly interruptions: readonly Interruption[];
}

export interface DocumentShape {
  readonly chunks: number;
  /** Chunk number n has n modulo `few` children. */
  readonly few: number;
  /** Every chunk number that `bigEvery` divides has `big` of them instead. */
  readonly bigEvery: number;
  readonly big: number;
  /** Every so many positions collide; 0: none. */
  readonly ties: number;
  /** Whether the positions of children collide. */
  readonly childTies: boolean;
  /** Numbers of the chunks that the service cannot render, and the status that it answers for a page with one of them. */
  readonly unreadable: { readonly chunks: readonly number[]; readonly status: number };
  /** The error that its lists answer in place of rows, for good. */
  readonly refused: Refused | undefined;
  readonly form: "text_model" | "hierarchical_model";
  /** Whether its chunks carry their children, too: in hierarchical_model only. */
  readonly embeds: boolean;
  /** Whether it embeds the children that there were in the beginning, whatever became of them. */
  readonly embedsOld?: boolean;
}

export interface Refused {
  readonly status: number;
  readonly code: string;
}

export interface JobShape {
  readonly childChunks: "all" | "auto" | "none";
  readonly consistency: "sweeps" | "anchored" | "counts";
  /** named: the job names every document. all: the service is asked which there are. */
  readonly documents: "named" | "all";
  readonly concurrency: number;
  readonly retries: number;
  readonly maxRps: number | undefined;
  /** Seconds. */
  readonly timeout: number;
  readonly formats: readonly ("jsonl" | "csv")[];
}

export interface ServiceShape extends Pick<Behaviour, "hasMore" | "pageCap" | "paging" | "ties"> {
  readonly rateLimit: RateLimit | undefined;
  /** Whether there is a cache between that gives old answers to those who do not ask for new ones. */
  readonly cache: boolean;
  /** Seconds by which the Date header is ahead of the times of rows. */
  readonly clockAhead?: number;
  /** Milliseconds of one way. */
  readonly latency: readonly [low: number, high: number];
}

/** A fault of an answer: one that a server in a test can be told, or slowness, by so many milliseconds. */
export type AnyFault = Fault | { readonly kind: "slow"; readonly milliseconds: number };

export interface FaultShape {
  readonly kinds: readonly AnyFault[];
  /** The share of requests that they hit. */
  readonly rate: number;
  /** How often one URL is hit in a row. */
  readonly inARow: number;
  /** The share of answers that lie: an empty page, or page 1 in place of another. */
  readonly lies: number;
  /** The share of pages that are never had whole, only with a limit up to `heavyLimit`. */
  readonly heavy: number;
  readonly heavyLimit: number;
  /** The request from which on the key is not taken any more. */
  readonly revokedAt: number | undefined;
}

/**
 * append: behind the greatest position, as the service adds chunks. late append: the same, but the row is stored some answers after the
 * add took its position; some were begun before the simulation, as were adds that took greater positions and are stored. append at once: at the greatest position, which two
 * requests at the same time may get. insert: anywhere. replace: a delete anywhere and an append in one moment. trade: two
 * chunks trade positions. content back: a content that may have been there before. undo: a state comes back.
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
  /** The share of requests before which something is edited. */
  readonly rate: number;
  readonly most: number;
  /** Edits at a moment of their own, beside the others. */
  readonly script?: readonly ScriptedEdit[];
}

/** An edit that happens just before a question is answered: the `nth`, from 1, whose target has this in it. */
export interface ScriptedEdit {
  readonly before: string;
  readonly nth?: number;
  /** Numbers of the chunks of the first document that are deleted. */
  readonly deleted?: readonly number[];
  /** Positions of chunks that come in. */
  readonly added?: readonly number[];
  /** Numbers of the documents that are dropped, and how many are added. */
  readonly dropped?: readonly number[];
  readonly addedDocuments?: number;
}

/** A process that ends early, after so many of its steps: requests and operations on files. */
export interface Interruption {
  readonly kind: "kill" | "power cut" | "disk full" | "signal";
  readonly after: number;
  /** Milliseconds until somebody starts the next process, and edits until then. */
  readonly gap: number;
  readonly edits: number;
}
