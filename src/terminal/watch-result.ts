import { countText, durationText } from "../amounts.js";
import type { WatchedStatus } from "../status/watch-status.js";
import { wrapToWidth } from "./display-width.js";
import { renderStatusTable } from "./status-table.js";
import { type Page, terminalText } from "./text.js";

/** How a watch ended, for people. `now` is in milliseconds. */
export function renderWatchResult(result: WatchedStatus, now: number, page: Page): string {
  const { paint, columns } = page;
  const { rows, seconds, readings, database, added } = result;
  const verdict = result.status === "completed" ? paint.good("completed") : paint.bad(verdicts[result.status]);
  const facts = `${countText(rows.length, "document")} in ${durationText(seconds * 1000)}, ${countText(readings, "reading")}`;
  const place = added ? "added to" : "the next run adds them to";
  return [
    ...wrapToWidth(`${paint.strong(verdict)}: ${facts}`, columns, "  "),
    "",
    ...(rows.length > 0 ? [renderStatusTable(rows, now, page), ""] : []),
    ...(readings > 0 ? wrapToWidth(`${place} ${terminalText(database)}`, columns, "  ") : ["no status was read"]),
  ].join("\n");
}

const verdicts = { error: "ended with errors", timeout: "not completed in time" } as const;

/** Why a watch ended before everything was completed; `timeout` in milliseconds. */
export function timeoutText({ rows }: WatchedStatus, timeout: number): string {
  const ended = new Set(["completed", "error"]);
  const open = rows.filter(({ indexing_status }) => !ended.has(String(indexing_status)));
  const what =
    rows.length === 0
      ? "no batch could be read"
      : `${open.length} of ${countText(rows.length, "document")} ${open.length === 1 ? "has" : "have"} not finished`;
  return `${what} within ${durationText(timeout)}; --timeout sets the limit`;
}
