import { durationText } from "../amounts.js";
import type { StatusResult } from "../results/status.js";
import { jsonText } from "../rows/exact-json.js";
import type { Row } from "../rows/row.js";
import type { TakenStatus } from "../status/capture-status.js";
import { layOutTable } from "./table.js";
import { type Page, type Paint, terminalText } from "./text.js";

/** A table of indexing-status rows for people: document, status, percent, age, error. `now` is in milliseconds. */
export function renderStatusTable(rows: readonly Row[], now: number, { paint, columns }: Page): string {
  const head = ["document", "status", "done", "age", "error"];
  const cells = rows.map((row) => [
    terminalText(String(row.document_id)),
    terminalText(String(row.indexing_status ?? "unknown"), 30),
    percentText(row.completed_segments, row.total_segments),
    ageText(row.processing_started_at, now),
    row.error === null ? "" : terminalText(typeof row.error === "string" ? row.error : jsonText(row.error), 100),
  ]);
  const [first = [], ...lines] = layOutTable([head, ...cells], {
    columns: [{ id: true }, { least: 8 }, {}, {}, { wraps: true }],
    width: columns,
  });
  const painted = lines.flatMap((row, at) => row.map((line) => coloured(line, cells[at]?.[1], paint)));
  return [...first.map(paint.faint), ...painted].join("\n");
}

/** A snapshot for programs. */
export function statusJson({ rows, failures, drift, database, added }: TakenStatus): StatusResult {
  return { status: failures.length > 0 ? "partial" : "complete", rows, failures, drift, database, added };
}

function coloured(line: string, status: string | undefined, paint: Paint): string {
  if (status === "completed") return paint.good(line);
  return status === "error" ? paint.bad(line) : line;
}

/** `40 %`; a dash as long as the service counts nothing, as it does right after an update. */
function percentText(done: unknown, total: unknown): string {
  if (typeof done !== "number" || typeof total !== "number" || total <= 0) return "–";
  return `${Math.floor((100 * Math.min(done, total)) / total)} %`;
}

/** Time since processing began, which tells what is stuck. */
function ageText(startedAt: unknown, now: number): string {
  return typeof startedAt === "string" ? durationText(now - Date.parse(startedAt)) : "–";
}
