import type { DocumentRow } from "../../rows/document-row.js";
import { countOf } from "../../words.js";

/** `4 of 6 documents complete, 1 failed, 1 unstable`. */
export function incompleteText(documents: readonly Pick<DocumentRow, "status">[]): string {
  const count = (wanted: DocumentRow["status"]) => documents.filter(({ status }) => status === wanted).length;
  const [complete, failed, unstable] = [count("complete"), count("failed"), count("unstable")];
  return [
    `${complete} of ${countOf(documents.length, "document")} complete`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(unstable > 0 ? [`${unstable} unstable`] : []),
  ].join(", ");
}
