import { countOf } from "../../words.js";
import type { RowDifference } from "./row-difference.js";

/** Differences of rows of one document that are listed. */
const mostListed = 100;

/** The first differences of the rows of a document, and a sentence that counts all others. */
export function listRows(differences: readonly RowDifference[]): {
  readonly listed: readonly RowDifference[];
  readonly more: readonly string[];
} {
  const rest = differences.slice(mostListed);
  const chunks = rest.filter(({ level }) => level === "chunk").length;
  const counts = [
    ...(chunks > 0 ? [countOf(chunks, "more chunk")] : []),
    ...(rest.length > chunks ? [countOf(rest.length - chunks, "more child chunk")] : []),
  ];
  return {
    listed: differences.slice(0, mostListed),
    more: rest.length > 0 ? [`${counts.join(" and ")} of it ${rest.length === 1 ? "differs" : "differ"}`] : [],
  };
}
