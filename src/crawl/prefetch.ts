/** How many requests may be under way or waiting to be worked off beyond those that are needed next; shared by all lists. */
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
 * Maps items in order, starting the next ones while the first is waited for. The first of a list starts without a
 * permit, so that every list gets on however many there are; what waits is bounded by the shared look-ahead.
 */
export async function* mapAhead<A, B>(
  items: Iterable<A>,
  prefetch: Prefetch,
  map: (item: A) => Promise<B>,
): AsyncGenerator<B> {
  const source = items[Symbol.iterator]();
  const started: { readonly result: Promise<B>; readonly permit: boolean }[] = [];
  const begin = async (item: A): Promise<B> => map(item); // rejects with what map throws at once
  const start = (permit: boolean): boolean => {
    const { done, value } = source.next();
    if (done) return false;
    const result = begin(value);
    result.catch(() => {}); // seen when its turn comes; a list that ends early leaves it unseen
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
