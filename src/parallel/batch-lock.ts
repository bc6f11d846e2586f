import type { Job as QueuedBatch } from "bullmq";
import { lockTime } from "./queue.js";

/** Milliseconds between two renewals, and between two checks. */
const renewEvery = 1_500;
const checkEvery = 500;
/** A lock counts as lost this many milliseconds before it expires. */
const margin = 500;

/** The lock that gives a batch to this worker. It is renewed until the end of its scope. */
export type BatchLock = Awaited<ReturnType<typeof holdLock>>;

/** Holds the lock of a batch. Rejects if the lock is already lost: then the coordinator hands out the documents again. */
export async function holdLock(batch: Pick<QueuedBatch, "extendLock">, token: string) {
  const ends = new AbortController();
  const signal: AbortSignal = ends.signal;
  const lose = () => ends.abort(new Error("the lock of these documents was lost"));
  let [sinceRenewal, isRenewing] = [stopwatch(), false];
  const isExpired = () => sinceRenewal() > lockTime - margin;
  const renew = async () => {
    isRenewing = true;
    const sinceRequest = stopwatch(); // from before the request, so the broker never ends the lock earlier than this process expects
    const renewed = await batch.extendLock(token, lockTime).catch(() => undefined); // without an answer, the next check tries again
    if (renewed === 1) sinceRenewal = sinceRequest;
    else if (renewed !== undefined) lose();
    isRenewing = false;
    return renewed === 1;
  };
  const requireHeld = () => {
    if (isExpired()) lose();
    signal.throwIfAborted();
  };
  if (!(await renew())) lose();
  requireHeld();
  const check = () => {
    if (isExpired()) lose();
    else if (sinceRenewal() >= renewEvery && !isRenewing) void renew();
  };
  const timer = setInterval(check, checkEvery);
  return {
    /** Aborted if the lock is lost, or may be lost because the broker did not answer in time. */
    signal,
    /** Throws if the lock may be lost. Call it before each step that matters: a process that was frozen learns of the loss only here. */
    requireHeld,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/**
 * Returns a function for the milliseconds since now, by the clock on which more time passed: the steady clock stops while the machine
 * sleeps, and the wall clock can be set.
 */
function stopwatch(): () => number {
  const [steady, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - steady, Date.now() - wall);
}
