/**
 * Limits how many requests are prefetched at once, across all lists. A request counts from its start until its answer is
 * consumed. The request that each list needs next does not count.
 */
export class Prefetch {
  #free: number;
  constructor(permits: number) {
    this.#free = permits;
  }
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }
  giveBack(): void {
    this.#free++;
  }
}

/**
 * Maps items in order, and starts later items while the first is pending. The first item of a list needs no permit, so every list
 * makes progress no matter how many there are. The shared permits limit the rest.
 */
export async function* mapAhead<A, B>(
  items: Iterable<A>,
  prefetch: Prefetch,
  map: (item: A) => Promise<B>,
): AsyncGenerator<B> {
  const source = items[Symbol.iterator]();
  const started: { readonly result: Promise<B>; readonly permit: boolean }[] = [];
  const begin = async (item: A): Promise<B> => map(item); // turns an exception of `map` into a rejection
  const start = (permit: boolean): boolean => {
    const { done, value } = source.next();
    if (done) return false;
    const result = begin(value);
    result.catch(() => {}); // the loop below awaits it, unless the list ends early
    started.push({ result, permit });
    return true;
  };
  const startAhead = (): void => {
    while (prefetch.take()) {
      if (start(true)) continue;
      prefetch.giveBack();
      return;
    }
  };
  try {
    while (started.length > 0 || start(false)) {
      startAhead();
      const [head] = started;
      if (!head) return;
      const result = await head.result;
      startAhead();
      yield result;
      started.shift();
      if (head.permit) prefetch.giveBack();
    }
  } finally {
    for (const { permit } of started) if (permit) prefetch.giveBack();
  }
}
