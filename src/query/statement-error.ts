import { onlyReads } from "../duckdb/query-values.js";

import { UsageError } from "../errors.js";
import { cutText, escapeControls } from "../safe-text.js";

/** Kinds of errors of DuckDB that say nothing of the statement: they stay as they are. */
const others = /^(Out of Memory|IO|INTERRUPT|INTERNAL|FATAL|Serialization) Error/i;

/** Reasons of DuckDB for what a connection that only reads refuses. */
const refused = /disabled (by|through) configuration|read-only mode|configuration has been locked/;

/**
 * The error of a statement as wrong usage: DuckDB's reason, with the place. `hidden` is a name of ours, which no message shows.
 * Gives back any other error unchanged.
 */
export function statementError(error: unknown, hidden: string): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error;
  const message = error.message.replace(/^Failed to extract statements: /, "");
  if (others.test(message) || !/^[\w -]+ Error:/.test(message)) return error;
  const [reason = "", place = ""] = message.split(/\n\n(?=LINE \d+:)/);
  const hint = refused.test(reason) ? [onlyReads] : [];
  const lines = [...reason.split("\n"), ...(place.includes(hidden) ? [] : place.split("\n")), ...hint];
  const shown = lines.filter((line) => line.trim() !== "").map((line) => cutText(escapeControls(line), 300));
  return new UsageError(shown.join("\n"), []);
}
