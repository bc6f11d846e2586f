import type { RowPair } from "../../../src/compare/proof/proof-pairs.js";

/** Pairs rows by their ids, as `pairForProof` does. */
export async function* paired<Row extends { readonly id: string }>(
  old: readonly Row[],
  live: readonly Row[],
): AsyncGenerator<RowPair<Row>> {
  const liveOf = new Map(live.map((row) => [row.id, row]));
  const known = new Set(old.map(({ id }) => id));
  for (const row of old) yield { old: row, live: liveOf.get(row.id) ?? null, isMoved: false };
  for (const row of live) if (!known.has(row.id)) yield { old: null, live: row, isMoved: false };
}

/** Collects all items of an iterable. */
export async function allOf<T>(iterable: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const each of iterable) all.push(each);
  return all;
}
