import type { DuckDBConnection } from "@duckdb/node-api";
import { columns } from "../normalise/columns.js";
import { findChanges } from "./duckdb-find-changes.js";
import { type HistoryKind, histories, historyKinds } from "./duckdb-history.js";
import { sqlText } from "./duckdb-open.js";
import { stateBefore } from "./duckdb-state-at.js";

/**
 * Writes down what a run changed: in `chunk_changes` and `child_chunk_changes` for the documents of `read_now`, and how many
 * rows that were in `runs`. The attached database `previous` has what was before, the tables what is now; before the first
 * run there was nothing, which is known without a row for every chunk.
 */
export async function recordChanges(connection: DuckDBConnection, runId: string): Promise<void> {
  const run = sqlText(runId);
  const found = await connection.runAndReadAll("SELECT run_id FROM previous.main.runs");
  const earlier = found.getRowsJson().map(([id]) => id);
  if (earlier.every((id) => id === runId)) return;
  for (const kind of historyKinds) await connection.run(sidesOf(kind, run, earlier.includes(runId)));
  await findChanges(connection);
  for (const kind of historyKinds) await connection.run(insertFound(kind, run));
  const counts = historyKinds.map((kind) => `(SELECT count(*) FROM ${histories[kind].table} WHERE run_id = ${run})`);
  await connection.run(`UPDATE runs SET changes = ${counts.join(" + ")} WHERE run_id = ${run}`);
}

/** `<kind>_before` and `<kind>_after`. A run that is finished once more is compared with what was before its first time. */
function sidesOf(kind: HistoryKind, run: string, again: boolean): string {
  const state = stateBefore(kind, { later: `run_id >= ${run}`, from: "previous.main." });
  const before = again
    ? `TEMP TABLE ${kind}_before AS SELECT row_number() OVER () AS row, * FROM (${state})`
    : `TEMP VIEW ${kind}_before AS SELECT rowid AS row, * FROM previous.main.${kind}`;
  return `CREATE ${before} SEMI JOIN read_now USING (dataset_id, document_id);
    CREATE TEMP VIEW ${kind}_after AS FROM ${kind} WHERE run_id = ${run}`;
}

function insertFound(kind: HistoryKind, run: string): string {
  const { table, ids, compared } = histories[kind];
  const renewed = ids.map((id) => `nullif(f.${id}, coalesce(b.${id}, f.${id})) AS new_${id}`);
  const values = columns[kind].map((column) => {
    const { name } = column;
    if (ids.includes(name)) return `coalesce(b.${name}, f.${name}) AS ${name}`;
    if (!compared.includes(column)) return `f.${name}`;
    return `CASE WHEN change IN ('changed', 'removed') OR list_contains(f.differs, '${name}') THEN b."${name}" END AS "${name}"`;
  });
  const idNow = (id: string) => `arg_max(coalesce(new_${id}, ${id}), run_id) AS ${id}`;
  const sameId = ids.map((id) => `b.${id} = l.${id}`).join(" AND ");
  return `INSERT INTO ${table} BY NAME
    WITH found AS (SELECT *, ${changeSql(kind)} AS change FROM ${kind}_found),
    lineages AS (
      SELECT lineage, any_value(dataset_id) AS dataset_id, any_value(document_id) AS document_id, ${ids.map(idNow).join(", ")}
      FROM ${table} GROUP BY lineage HAVING arg_max(change, run_id) <> 'removed'
    )
    SELECT ${run} AS run_id, f.change, f.differs,
      coalesce(l.lineage, (SELECT coalesce(max(lineage), 0) FROM ${table}) + row_number() OVER ()) AS lineage,
      ${[...renewed, ...values].join(", ")}
    FROM found f LEFT JOIN ${kind}_before b ON b.row = f.row
      LEFT JOIN lineages l ON b.dataset_id = l.dataset_id AND b.document_id = l.document_id AND ${sameId}`;
}

/** SQL: the name of a change. */
function changeSql(kind: HistoryKind): string {
  const { ids, changes } = histories[kind];
  const cases = changes.map(([change, names]) => {
    const list = names.map((name) => `'${name}'`).join(", ");
    return `WHEN list_has_any(differs, [${list}]) THEN '${change}'`;
  });
  return `CASE WHEN row IS NULL THEN 'added' WHEN ${ids[0]} IS NULL THEN 'removed' ${cases.join(" ")} ELSE 'other' END`;
}
