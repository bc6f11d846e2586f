import { pathToFileURL } from "node:url";
import { bytesText, countText, numberText } from "../amounts.js";
import type { ReportResult } from "../results/report.js";
import { wrapToWidth } from "./display-width.js";
import { renderPlaces, shortPath } from "./summary.js";
import { type Page, terminalText } from "./text.js";

/** Renders the main figures of a report that was written, where it is, and how to open it; for people. */
export function renderReportResult(result: ReportResult, { paint, columns }: Page): string {
  const { status, path, bytes, documents, incomplete_documents, chunks, child_chunks } = result;
  const read = [
    status === "complete"
      ? countText(documents, "document")
      : `${countText(incomplete_documents, "document")} of ${numberText(documents)} not complete`,
    countText(chunks, "chunk"),
    countText(child_chunks, "child chunk"),
  ];
  const verdict = status === "complete" ? paint.good(status) : paint.bad(status);
  const lines = [`${paint.strong(verdict)}: ${read.join(", ")}`, verificationText(result), ...lossText(result)];
  return [
    ...lines.flatMap((line) => wrapToWidth(line, columns, "  ")),
    "",
    ...renderPlaces([[terminalText(shortPath(path)), bytesText(bytes)]], columns),
    "",
    `Open it in a browser: ${pathToFileURL(path)}`,
  ].join("\n");
}

function verificationText({ verified, findings }: ReportResult): string {
  if (verified === null) return "not verified";
  if (verified === "sound") return "sound: every file was read again";
  return `not sound: verify has ${countText(findings ?? 0, "finding")}`;
}

function lossText({ against, lost, lost_by_hand, not_compared }: ReportResult): readonly string[] {
  if (against === null || lost === null) return [];
  const unknown = not_compared
    ? `; ${countText(not_compared, "document")} could not be compared, or ${not_compared === 1 ? "is" : "are"} gone`
    : "";
  if (lost === 0)
    return [
      `${unknown === "" ? "nothing was lost" : "no loss is known"} by a re-index since ${against.run_id}${unknown}`,
    ];
  const rows = lost === 1 ? "1 chunk or child chunk" : `${numberText(lost)} chunks or child chunks`;
  const byHand = lost_by_hand === lost ? "all" : lost_by_hand ? `${numberText(lost_by_hand)} of them` : undefined;
  return [
    `lost by a re-index since ${against.run_id}: ${rows}${byHand === undefined ? "" : `, ${byHand} made by hand`}${unknown}`,
  ];
}
