import type { Behaviour } from "../servers/behaviour.js";
import type { Fault } from "../servers/faults.js";
import type { RateLimit } from "../servers/rate-limit.js";

/** Everything that a seed decides before the simulation begins. What happens at which moment is drawn on the way. */
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
  /** What its lists answer in place of rows, for good. */
  readonly refused: Refused | undefined;
  readonly form: "text_model" | "hierarchical_model";
  /** Whether its chunks carry their children, too: in hierarchical_model only. */
  readonly embeds: boolean;
}

export interface Refused {
  readonly status: number;
  readonly code: string;
}

export interface JobShape {
  readonly childChunks: "all" | "auto" | "none";
  readonly consistency: "counts" | "sweeps";
  readonly concurrency: number;
  readonly retries: number;
  readonly maxRps: number | undefined;
  /** Seconds. */
  readonly timeout: number;
  readonly formats: readonly ("jsonl" | "csv")[];
}

export interface ServiceShape extends Pick<Behaviour, "hasMore" | "pageCap" | "paging" | "ties"> {
  readonly rateLimit: RateLimit | undefined;
  /** Milliseconds of one way. */
  readonly latency: readonly [low: number, high: number];
}

/** What may be wrong with an answer beyond what a server in a test can be told: slow, by so many milliseconds. */
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

export type EditKind =
  | "delete"
  | "add"
  | "replace"
  | "swap"
  | "content"
  | "answer"
  | "re-index"
  | "delete child"
  | "add child"
  | "replace child"
  | "child content"
  | "drop document"
  | "undo";

export interface EditShape {
  readonly kinds: readonly EditKind[];
  /** The share of requests before which something is edited. */
  readonly rate: number;
  readonly most: number;
}

/** A process that ends early, after so many of its steps: requests and operations on files. */
export interface Interruption {
  readonly kind: "kill" | "power cut" | "disk full" | "signal";
  readonly after: number;
}

/** Whether anything of the data can change: then every row says when it was answered. */
export function isMoving({ edits }: Scenario): boolean {
  return edits.most > 0;
}

/** Whether the document must come out whole, whatever happens on the way: only what passes, less often than it is tried. */
export function isMild({ job, faults, service, documents, edits }: Scenario): boolean {
  const passes = faults.inARow <= job.retries && faults.lies === 0 && faults.heavy === 0;
  const still = edits.most === 0 && documents.every(({ ties }) => ties === 0 || service.ties !== "shuffled");
  const open = faults.revokedAt === undefined && documents.every(({ refused }) => refused === undefined);
  return passes && still && open && service.rateLimit === undefined;
}
