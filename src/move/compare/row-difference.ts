import type { MoveDifference } from "../moved.js";

/** A difference in the rows of one document. */
export type RowDifference = Omit<MoveDifference, "document_id">;

type Placed = Pick<RowDifference, "id" | "position">;

/** A difference of a row of the run; of one that is only at the service, the id and position there. */
export function differenceOf(level: "chunk" | "child_chunk", { id, position }: Placed, reason: string): RowDifference {
  return { level, id, position, reason };
}

/** `it differs in text and state`: at most one difference for one row, whatever of it differs. */
export function flawsOf(
  level: "chunk" | "child_chunk",
  row: Placed,
  flaws: readonly (string | false)[],
): readonly RowDifference[] {
  const found = flaws.filter((flaw) => flaw !== false);
  return found.length > 0 ? [differenceOf(level, row, `it differs in ${found.join(" and ")}`)] : [];
}
