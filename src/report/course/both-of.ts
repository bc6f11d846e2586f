/**
 * Does two works at the same time, and ends when both have ended. Once one of them rejects, the signal of the other is aborted with the
 * same error, and this rejects with it; an abort of `signal` ends both with its reason.
 */
export async function bothOf<One, Other>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => Promise<One>,
  other: (signal: AbortSignal) => Promise<Other>,
): Promise<readonly [One, Other]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const begin = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
    work(either).catch((error: unknown) => {
      stop.abort(error);
      throw error;
    });
  const works = [begin(one), begin(other)] as const;
  await Promise.allSettled(works);
  either.throwIfAborted();
  return Promise.all(works);
}
