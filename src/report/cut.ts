/** The first rows of a table, those first that need a look. */
export interface Cut<Row> {
  readonly rows: readonly Row[];
  /** Rows that there are; those that are left out included. */
  readonly total: number;
  /** The command that prints all of them; null where none does. */
  readonly query: string | null;
}

/** Rows that a table gets at the most; the page shows fewer where they are long. */
export const mostRows = 300;
