/** The work of a service of the benchmark since its start. */
export interface Served {
  /** The processor time that it used, in seconds. */
  readonly cpu: number;
  /** Requests for rows of chunks. */
  readonly pages: number;
  /** Requests for child lists. */
  readonly childLists: number;
  /** All other requests. */
  readonly others: number;
}

export type RequestKind = "pages" | "childLists" | "others";

/** The work that was done after `before` and until `after`. */
export function servedBetween(before: Served, after: Served): Served {
  return {
    cpu: after.cpu - before.cpu,
    pages: after.pages - before.pages,
    childLists: after.childLists - before.childLists,
    others: after.others - before.others,
  };
}

/** The total number of requests. */
export function requestsTo({ pages, childLists, others }: Served): number {
  return pages + childLists + others;
}
