/** A number of DuckDB, which gives large ones as texts; 0 for the sum of nothing. */
export function numberFrom(value: unknown): number {
  return Number(value ?? 0);
}

/** The same, null where there is none. */
export function knownNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

export function knownText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
