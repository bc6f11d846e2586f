import type { ChildRow } from "../../../restore/document-rows.js";

/** A child chunk of the target. */
export interface ChildThere {
  readonly id: string;
  readonly content: string;
  /** automatic, customized; open. */
  readonly type: string | null;
}

type Wanted = Pick<ChildRow, "id" | "content" | "type" | "position">;

/** The writes that make the children of a chunk those of the dump, in their order. */
export interface ChildFix<W extends Wanted, T extends ChildThere> {
  /** From the last to the first, so that those which stand at any moment begin as the dump does. */
  readonly remove: readonly T[];
  /** Those that stand, and shall count as written by hand. */
  readonly customize: readonly { readonly wanted: W; readonly there: T }[];
  /** Behind the last one, in order. */
  readonly add: readonly W[];
}

/**
 * Compares the children that the service made with those of the dump. The service adds children at the end alone, so the longest
 * beginning that agrees stays, and everything behind it goes.
 */
export function planChildren<W extends Wanted, T extends ChildThere>(
  wanted: readonly W[],
  there: readonly T[],
): ChildFix<W, T> {
  const differing = there.findIndex(({ content }, at) => content !== wanted[at]?.content);
  const kept = differing < 0 ? there : there.slice(0, differing);
  const customize = kept.flatMap((child, at) => {
    const row = wanted[at];
    return row?.type === "customized" && child.type !== "customized" ? [{ wanted: row, there: child }] : [];
  });
  return { remove: there.slice(kept.length).reverse(), customize, add: wanted.slice(kept.length) };
}
