import { hashOf, type Random } from "../../servers/random.js";
import type { AnyFault, FaultShape } from "../scenario.js";

const sentence = "Sorry, you have reached the knowledge base request rate limit of your subscription.";
const after = (seconds: number) => ({ "retry-after": String(seconds) });

/** Faults that are gone when the request is repeated. */
export const transientFaults: readonly AnyFault[] = [
  { kind: "reset-before" },
  { kind: "reset-mid-body" },
  { kind: "hang" },
  { kind: "slow", milliseconds: 2_000 },
  { kind: "slow", milliseconds: 30_000 },
  { kind: "slow", milliseconds: 70_000 },
  { kind: "status", status: 408 },
  { kind: "status", status: 425 },
  { kind: "status", status: 429 },
  { kind: "status", status: 429, headers: after(1) },
  { kind: "status", status: 429, headers: after(37) },
  { kind: "status", status: 403, code: "forbidden", message: sentence },
  { kind: "status", status: 500 },
  { kind: "status", status: 502, body: "html" },
  { kind: "status", status: 503, body: "html" },
  { kind: "status", status: 503, headers: after(5) },
  { kind: "status", status: 504, body: "empty" },
  { kind: "truncated-json" },
  { kind: "invalid-json" },
  { kind: "not-utf8" },
  { kind: "ok-with-error-body" },
  { kind: "missing-data" },
  { kind: "missing-total" },
  { kind: "missing-id" },
];

/** The part of a request that faults depend on. */
export interface Target {
  /** The path with the query. */
  readonly url: string;
  readonly limit: number;
}

/** Decides which answers get a fault, and counts faults in a row per URL. */
export class FaultScript {
  readonly #shape: FaultShape;
  readonly #random: Random;
  readonly #seed: number;
  readonly #inARow = new Map<string, number>();

  constructor(shape: FaultShape, seed: number, random: Random) {
    this.#shape = shape;
    this.#seed = seed;
    this.#random = random;
  }

  /** The fault of the next answer to this request; undefined: a correct answer. */
  next({ url, limit }: Target): AnyFault | undefined {
    const { kinds, rate, inARow, lies, heavyLimit } = this.#shape;
    const [dice, which] = [this.#random(), this.#random()];
    if (limit > heavyLimit && this.#isHeavy(url))
      return which < 0.5 ? { kind: "hang" } : { kind: "status", status: 504 };
    const before = this.#inARow.get(url) ?? 0;
    if (dice < rate && before < inARow) {
      this.#inARow.set(url, before + 1);
      return kinds[Math.floor(which * kinds.length)];
    }
    this.#inARow.delete(url);
    if (this.#random() >= lies) return undefined;
    return { kind: which < 0.5 ? "empty-page" : "repeated-page" };
  }

  #isHeavy(url: string): boolean {
    return this.#shape.heavy > 0 && hashOf(`heavy ${this.#seed} ${url}`) / 2 ** 32 < this.#shape.heavy;
  }
}
