import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds for a command of a queue that may be gone. */
const longest = 2_000;

/** Waits for a command of a queue, but not for long, and whatever comes of it. */
export async function atMost(command: Promise<unknown>): Promise<void> {
  const ends = new AbortController();
  await Promise.race([command.catch(() => {}), delay(longest, undefined, { signal: ends.signal }).catch(() => {})]);
  ends.abort();
}
