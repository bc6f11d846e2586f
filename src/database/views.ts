import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlText } from "../duckdb/sql-text.js";
import { type HistoryKind, historyKinds } from "./history.js";
import { historyViews } from "./history-views.js";
import { stateBefore } from "./state-at.js";
import { stateViews } from "./state-views.js";

/**
 * Makes the views and macros anew, each with a comment, and one for every column. They need no extension and change nothing. A table that somebody has
 * added under the name of a view stays.
 */
export async function createViews(connection: Connection): Promise<void> {
  const result = await connection.runAndReadAll("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'");
  const taken = result.getRowsJson().map(([name]) => name);
  const free = Object.entries({ ...stateViews, ...historyViews }).filter(([name]) => !taken.includes(name));
  const views = free.flatMap(([name, { about, columns, sql }]) => [
    `CREATE OR REPLACE VIEW ${name} AS ${sql}`,
    `COMMENT ON VIEW ${name} IS ${sqlText(about)}`,
    ...Object.entries(columns).map(
      ([column, comment]) => `COMMENT ON COLUMN ${name}."${column}" IS ${sqlText(comment)}`,
    ),
  ]);
  const statements = [...views, ...historyKinds.flatMap(stateMacro)];
  await connection.run(["BEGIN", ...statements, "COMMIT"].join(";\n"));
}

/**
 * The rows of a kind as of a run; an error for a time of which nothing was written down, and for one in another form, as
 * run ids are compared as texts; no rows before the first run.
 */
function stateMacro(kind: HistoryKind): readonly string[] {
  const about = `${kind} as they were after the last run up to this one: FROM ${kind}_at('20261120T020000123Z')`;
  const refused = "'no changes were written down at that time: the run after it was of kbdump 0.1'";
  const isOther = "regexp_matches(run, '^[0-9]') AND NOT regexp_full_match(run, '[0-9]{8}(T[0-9]{9}Z)?')";
  const wanted = `'expected the id of a run or a time in that form, UTC, such as 20261120T020000123Z or 20261120; got ' || run`;
  return [
    `CREATE OR REPLACE MACRO ${kind}_at(run) AS TABLE
      SELECT * FROM (${stateBefore(kind, { later: "run_id > run" })})
      WHERE (SELECT CASE WHEN ${isOther} THEN error(${wanted}) ELSE true END) AND EXISTS (FROM runs WHERE run_id <= run) AND CASE
        WHEN (SELECT bool_or(run_id > run AND changes IS NULL) AND bool_or(run_id <= run) FROM runs) THEN error(${refused})
        ELSE true END`,
    `COMMENT ON MACRO TABLE ${kind}_at IS ${sqlText(about)}`,
  ];
}
