/** A text from a field that may hold anything; null for everything else. */
export function textIn(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A number, in the same way. */
export function numberIn(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
