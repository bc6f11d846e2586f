import * as v from "valibot";
import { count } from "../schema.js";
import type { Kind } from "./columns.js";

/** How often fields had an unexpected type, or no place, by `table.field`. */
export type Drift = Readonly<Record<string, number>>;

export const driftSchema = v.record(v.string(), count, "an object");

/** No drift: one for all, as there may be very many documents without any. */
export const noDrift: Drift = Object.freeze({});

/** Counts drift while rows are made. */
export class DriftCount {
  readonly #counts: Record<string, number>;

  /** `earlier` is what was counted before. */
  constructor(earlier: Drift = noDrift) {
    this.#counts = { ...earlier };
  }

  readonly add = (kind: Kind, field: string): void => {
    const name = `${kind}.${field}`;
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  };

  /** The counts as they are now. */
  get drift(): Drift {
    for (const _ in this.#counts) return { ...this.#counts };
    return noDrift;
  }
}

/** Several counts added up. */
export function sumOfDrift(drifts: readonly Drift[]): Drift {
  const sum: Record<string, number> = {};
  for (const [name, count] of drifts.flatMap(Object.entries)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
