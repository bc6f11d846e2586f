/** Work that yields when it must wait, with the time at which to come back to it. */
export type Waiting<T> = AsyncGenerator<number, T, void>;

export interface TurnOptions {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Told how many wait. */
  readonly onWaiting?: (count: number) => void;
}

/**
 * Does one piece of work after the other, never two at once. One that waits is come back to when all have had their turn, so that
 * their waits overlap. Gives what they come to, in their order.
 */
export async function takeTurns<T>(
  works: readonly Waiting<T>[],
  { signal, now, sleep, onWaiting = () => {} }: TurnOptions,
): Promise<readonly T[]> {
  const results: T[] = [];
  const waiting = new Map<number, number>();
  const goOn = async (index: number, work: Waiting<T> | undefined) => {
    const next = await work?.next();
    waiting.delete(index);
    if (next?.done) results[index] = next.value;
    else if (next) waiting.set(index, next.value);
    onWaiting(waiting.size);
  };
  for (const [index, work] of works.entries()) await goOn(index, work);
  while (waiting.size > 0) {
    const [[index, at] = [0, 0]] = [...waiting].sort(([, one], [, other]) => one - other);
    if (at > now()) await sleep(at - now(), signal);
    await goOn(index, works[index]);
  }
  return results;
}
