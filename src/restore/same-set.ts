/** Whether two lists have the same members, in whatever order; null is none. */
export function isSameSet(one: readonly string[] | null, other: readonly string[] | null): boolean {
  const [left, right] = [new Set(one), new Set(other)];
  return left.size === right.size && [...left].every((member) => right.has(member));
}
