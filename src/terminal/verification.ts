import { countText } from "../amounts.js";
import type { Verification } from "../verify/findings.js";
import { wrapToWidth } from "./display-width.js";
import { type Page, terminalText } from "./text.js";

/** A line for every finding and for what could not be checked, then the verdict; for people. */
export function renderVerification(
  { findings, finding_count, checked }: Verification,
  { paint, columns }: Page,
): string {
  const facts = [
    countText(checked.files, "file"),
    countText(checked.chunks, "chunk"),
    countText(checked.child_chunks, "child chunk"),
    ...(checked.originals === null ? [] : [countText(checked.originals, "original")]),
    ...(checked.attachments ? [countText(checked.attachments, "attachment")] : []),
    ...(checked.database ? [`${countText(checked.database.documents, "document")} of the database`] : []),
  ];
  const lines = [
    ...findings.map(({ file, message }) => terminalText(`${file}: ${message}`, 600)),
    ...checked.notes.map((note) => paint.faint(`note: ${terminalText(note, 600)}`)),
    finding_count === 0
      ? `${paint.strong(paint.good("sound"))}: ${facts.join(", ")}`
      : `${paint.strong(paint.bad("not sound"))}: ${countText(finding_count, "finding")}`,
  ];
  return lines.flatMap((line) => wrapToWidth(line, columns, "  ")).join("\n");
}
