/** What a service of the benchmark did since it started. */
export interface Served {
  /** Seconds of its processor time. */
  readonly cpu: number;
  /** Requests for rows of chunks. */
  readonly pages: number;
  /** Requests for child lists. */
  readonly childLists: number;
  /** All other requests. */
  readonly others: number;
}

export type RequestKind = "pages" | "childLists" | "others";

/** What it did between two moments. */
export function servedBetween(before: Served, after: Served): Served {
  return {
    cpu: after.cpu - before.cpu,
    pages: after.pages - before.pages,
    childLists: after.childLists - before.childLists,
    others: after.others - before.others,
  };
}

/** Requests of every kind. */
export function requestsTo({ pages, childLists, others }: Served): number {
  return pages + childLists + others;
}
