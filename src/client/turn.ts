import { setTimeout as delay } from "node:timers/promises";
import type { Pace } from "./pace.js";
import type { SharedBounds, SharedPlace } from "./shared-bounds.js";

export interface TurnOptions {
  /** Ends every wait. */
  readonly signal: AbortSignal;
  /** Milliseconds on a clock that only goes forward. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** Waits until the pace lets one more request go. */
export async function turnAt(
  pace: Pace,
  { signal, now = () => performance.now(), sleep = pause }: TurnOptions,
): Promise<void> {
  for (let wait = pace.take(now()); wait > 0; wait = pace.take(now())) {
    signal.throwIfAborted();
    await sleep(wait, signal).catch(() => signal.throwIfAborted());
  }
}

/**
 * Waits for a place among the requests of all processes, and then until the pace lets one more request go. A place that was
 * lost meanwhile is given back, and another one waited for: whoever has the result sends at once.
 */
export async function turnInPlace(shared: SharedBounds, pace: Pace, options: TurnOptions): Promise<SharedPlace> {
  const { signal } = options;
  for (;;) {
    const place = await shared.enter(signal);
    try {
      if (await waitInPlace(place, shared, pace, options)) return place;
    } catch (error) {
      place.leave();
      throw error;
    }
    place.leave();
  }
}

/** Whether the turn came while the place was ours. */
async function waitInPlace(
  place: SharedPlace,
  shared: SharedBounds,
  pace: Pace,
  { signal, now = () => performance.now(), sleep = pause }: TurnOptions,
): Promise<boolean> {
  while (place.isSure()) {
    const wait = pace.take(now());
    if (wait === 0) return true;
    if (pace.isAtMost(now())) shared.slowed();
    await sleep(wait, signal).catch(() => {});
    signal.throwIfAborted();
  }
  return false;
}

/** Waits so many milliseconds; rejects once the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal });
}
