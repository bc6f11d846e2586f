import { type Connection, duckDbThreads } from "../duckdb/open-duckdb.js";
import { sqlText } from "../duckdb/sql-text.js";
import { findChanges } from "./find-changes.js";
import { type HistoryKind, histories, historyKinds } from "./history.js";
import type { RunFacts } from "./run-rows.js";
import { stateBefore } from "./state-at.js";

/**
 * Writes down what a run changed: in `chunk_changes` and `child_chunk_changes` for the documents of `read_now`, and how many
 * rows that were in `runs`. The attached database `previous` has what was before, the tables what is now; before the first
 * run there was nothing, which is known without a row for every chunk. Child chunks that nobody asked for have not changed.
 */
export async function recordChanges(
  connection: Connection,
  { run: { run_id: runId }, withoutChildren }: RunFacts,
): Promise<void> {
  const run = sqlText(runId);
  const found = await connection.runAndReadAll("SELECT run_id FROM previous.main.runs");
  const earlier = found.getRowsJson().map(([id]) => id);
  if (earlier.every((id) => id === runId)) return;
  for (const kind of historyKinds) {
    const isRead = kind === "chunks" || !withoutChildren;
    await connection.run(sidesOf(kind, run, earlier.includes(runId), isRead));
  }
  await findChanges(connection);
  for (const kind of historyKinds) await connection.run(`${nameFound(kind)};\n${insertNamed(kind, run)}`);
  const counts = historyKinds.map((kind) => `(SELECT count(*) FROM ${histories[kind].table} WHERE run_id = ${run})`);
  await connection.run(`UPDATE runs SET changes = ${counts.join(" + ")} WHERE run_id = ${run}`);
}

/** `<kind>_before`, `<kind>_after`, and the earlier changes that are kept. A run that is finished once more is compared with what was before its first time. */
function sidesOf(kind: HistoryKind, run: string, again: boolean, isRead: boolean): string {
  const state = stateBefore(kind, { later: `run_id >= ${run}`, from: "previous.main." });
  const before = again
    ? `TEMP TABLE ${kind}_before AS SELECT row_number() OVER () AS row, * FROM (${state})`
    : `TEMP VIEW ${kind}_before AS SELECT rowid AS row, * FROM previous.main.${kind}`;
  const { table } = histories[kind];
  return `CREATE TEMP VIEW ${table}_kept AS FROM previous.main.${table} c WHERE run_id <> ${run}
      OR NOT EXISTS (FROM read_now n WHERE n.dataset_id = c.dataset_id AND n.document_id = c.document_id);
    CREATE ${before} SEMI JOIN read_now USING (dataset_id, document_id)${isRead ? "" : " LIMIT 0"};
    CREATE TEMP VIEW ${kind}_after AS FROM ${kind} WHERE run_id = ${run}`;
}

/** `<kind>_named`: what was found, with the name of the change and the lineage that it belongs to. Texts are not looked at. */
function nameFound(kind: HistoryKind): string {
  const { table, ids } = histories[kind];
  const oldIds = ids.map((id) => `coalesce(b.${id}, f.${id}) AS ${id}`);
  const newIds = ids.map((id) => `nullif(f.${id}, coalesce(b.${id}, f.${id})) AS new_${id}`);
  const idsNow = ids.map((id) => `arg_max(coalesce(new_${id}, ${id}), run_id) AS ${id}`);
  const list = ["row", "dataset_id", "document_id", ...ids].join(", ");
  const known = ids.map((id) => `l.${id} = CASE WHEN f.row IS NOT NULL THEN f.${id} END`); // what was added has none
  return `CREATE TEMP TABLE ${kind}_named AS
    WITH found AS (
      SELECT f.* EXCLUDE (${ids.join(", ")}), ${changeSql(kind)} AS change, ${[...oldIds, ...newIds].join(", ")}
      FROM ${kind}_found f LEFT JOIN (SELECT ${list} FROM ${kind}_before) b ON b.row = f.row
    ), lineages AS (
      SELECT lineage, any_value(dataset_id) AS dataset_id, any_value(document_id) AS document_id, ${idsNow.join(", ")}
      FROM ${table}_kept GROUP BY lineage HAVING arg_max(change, run_id) <> 'removed'
    )
    SELECT f.*, coalesce(l.lineage, (SELECT coalesce(max(lineage), 0) FROM ${table}_kept) + row_number() OVER ()) AS lineage
    FROM found f LEFT JOIN lineages l ON f.dataset_id = l.dataset_id AND f.document_id = l.document_id AND ${known.join(" AND ")}`;
}

/**
 * Fills the table of changes: with the earlier ones, and with those that were named, the removed and different ones with what
 * they were. One statement of one thread does it: what is added to a table that is there, or is put together of the work of
 * several threads, leaves holes in the file. DuckDB is told which side of the join to keep in memory: the one without texts.
 */
function insertNamed(kind: HistoryKind, run: string): string {
  const { table, ids, compared } = histories[kind];
  const renewed = ids.map((id) => `new_${id}`);
  const known = [`${run} AS run_id`, "f.change", "f.differs", "f.lineage", ...renewed].join(", ");
  const place = ["dataset_id", "document_id", ...ids].map((name) => `f.${name}`).join(", ");
  const values = compared
    .filter(({ name }) => !ids.includes(name))
    .map(({ name }) => {
      const recorded = `f.change IN ('changed', 'removed') OR list_contains(f.differs, '${name}')`;
      return `CASE WHEN ${recorded} THEN b."${name}" END AS "${name}"`;
    });
  return `SET disabled_optimizers = 'join_order,build_side_probe_side';
    SET threads = 1;
    INSERT INTO ${table} BY NAME FROM ${table}_kept
      UNION ALL BY NAME SELECT ${known}, ${place}, ${values.join(", ")}
        FROM ${kind}_before b JOIN ${kind}_named f ON b.row = f.row
      UNION ALL BY NAME SELECT ${known}, ${place} FROM ${kind}_named f WHERE f.row IS NULL;
    SET threads = ${duckDbThreads};
    RESET disabled_optimizers`;
}

/** SQL: the name of a change. */
function changeSql(kind: HistoryKind): string {
  const { ids, changes } = histories[kind];
  const cases = changes.map(([change, names]) => {
    const list = names.map((name) => `'${name}'`).join(", ");
    return `WHEN list_has_any(differs, [${list}]) THEN '${change}'`;
  });
  return `CASE WHEN f.row IS NULL THEN 'added' WHEN f.${ids[0]} IS NULL THEN 'removed' ${cases.join(" ")} ELSE 'other' END`;
}
