/** A page of chunks, as it says of itself. */
export interface PageSaying {
  readonly page: number;
  readonly limit: number;
  readonly rows: number;
  readonly total: number;
  /** What stands under has_more; undefined where it is absent. */
  readonly said: unknown;
}

/** Whether rows are left behind a page; undefined where it cannot be told. */
export function isMoreLeft({ page, limit, rows, total }: PageSaying): boolean | undefined {
  if (total === 0) return false;
  if (rows === 0 || !Number.isFinite(total)) return undefined;
  if (page === 1) return rows < total;
  const read = (page - 1) * limit + rows;
  return rows === limit || read === total ? read < total : undefined;
}

/** Counts how often has_more was right, and in which way it was wrong. */
export class HasMoreCount {
  right = 0;
  absent = 0;
  /** It said that rows are left, and none were. */
  claimed = 0;
  /** It said that none are left, and some were. */
  denied = 0;

  add(page: PageSaying): void {
    const truth = isMoreLeft(page);
    if (truth === undefined) return;
    if (typeof page.said !== "boolean") this.absent++;
    else if (page.said === truth) this.right++;
    else if (page.said) this.claimed++;
    else this.denied++;
  }
}
