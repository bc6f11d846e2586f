/** The sum of a field over rows; what is no number counts as 0. */
export function sumOf(rows: readonly { readonly [field: string]: unknown }[], field: string): number {
  return rows.reduce((sum, row) => {
    const value = row[field];
    return typeof value === "number" ? sum + value : sum;
  }, 0);
}
