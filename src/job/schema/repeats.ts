/** An item that stood in the list before. */
export interface Repeat {
  readonly key: number;
  readonly first: number;
}

/** Finds every text of a list that is the same as an earlier one; what is no text is passed over. */
export function repeats(items: readonly unknown[]): readonly Repeat[] {
  const firsts = new Map<string, number>();
  return items.flatMap((item, key) => {
    if (typeof item !== "string") return [];
    const first = firsts.get(item);
    if (first !== undefined) return [{ key, first }];
    firsts.set(item, key);
    return [];
  });
}
