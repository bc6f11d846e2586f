/** The wait between two looks for a lost answer, in milliseconds: the first, which doubles, and the longest. */
const [firstLook, longestLook] = [200, 10_000];

export interface LookOptions {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rejects with the reason of the signal. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called once before a wait of over a minute, with its end. */
  readonly onWait?: (until: number) => void;
}

/** Longer waits are reported. Milliseconds. */
const longWait = 60_000;

/** Looks for what a write did until it shows up, or `until` has passed, in milliseconds since 1970; undefined: it was not done. */
export async function lookFor<T>(
  find: () => Promise<T | undefined>,
  until: number,
  { signal, now, sleep, onWait }: LookOptions,
): Promise<T | undefined> {
  let isTold = false;
  for (let wait = firstLook; ; wait = Math.min(longestLook, wait * 2)) {
    const left = until - now(); // before the look: the last one comes after all the time
    const found = await find();
    if (found !== undefined || left <= 0) return found;
    if (!isTold && left > longWait) onWait?.(until);
    isTold = true;
    await sleep(Math.min(wait, left), signal);
  }
}
