import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds for a last command to a queue that may be gone: several of them take less than an interrupted process may live. */
const longest = 1_500;

/** Waits for a command of a queue, but not for long, and whatever comes of it. */
export async function atMost(command: Promise<unknown>): Promise<void> {
  await inTime(command, longest).catch(() => {});
}

/** Waits for a command of a queue. Rejects where there is no answer within so many milliseconds, and as soon as the signal is aborted. */
export async function inTime(command: Promise<unknown>, milliseconds: number, signal?: AbortSignal): Promise<void> {
  const ends = new AbortController();
  const late = delay(milliseconds, undefined, { signal: AbortSignal.any([ends.signal, ...(signal ? [signal] : [])]) });
  const noAnswer = late.then(() => {
    throw new Error(`no answer within ${milliseconds / 1_000} s`);
  });
  await Promise.race([command, noAnswer]).finally(() => ends.abort());
}
