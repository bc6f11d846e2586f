import type { StateRows } from "../compare/compare-states.js";
import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/read-rows.js";
import { isJson, sqlText } from "../duckdb/sql.js";
import { columns } from "../rows/columns.js";
import { type HistoryKind, histories, historyKinds, type RunFacts, sameRow } from "./tables.js";
import { stateBefore } from "./views.js";

/**
 * Records the changes and losses of a run: rows in `chunk_changes` and `child_chunk_changes` for the documents of `read_now`, and their
 * number in `runs`. The attached database `previous` has the old state, the tables have the new one. The first run has no old state, and
 * needs no row for every chunk. Child chunks that were not read count as unchanged.
 */
export async function recordChanges(
  connection: Connection,
  { run: { run_id: runId }, withoutChildren }: RunFacts,
  signal: AbortSignal,
): Promise<void> {
  const run = sqlText(runId);
  const found = await connection.runAndReadAll("SELECT run_id FROM previous.main.runs");
  const earlier = found.getRowsJson().map(([id]) => id);
  const last = earlier
    .filter((id) => id !== runId)
    .sort()
    .at(-1);
  if (typeof last !== "string") return;
  for (const kind of historyKinds) {
    const isRead = kind === "chunks" || !withoutChildren;
    await connection.run(sidesOf(kind, run, earlier.includes(runId), isRead));
  }
  await findChanges(connection, last, signal);
  for (const kind of historyKinds) await connection.run(`${nameFound(kind, run)};\n${insertNamed(kind, run)}`);
  const counts = historyKinds.map((kind) => `(SELECT count(*) FROM ${histories[kind].table} WHERE run_id = ${run})`);
  await connection.run(`UPDATE runs SET changes = ${counts.join(" + ")} WHERE run_id = ${run}`);
}

/**
 * SQL: creates `<kind>_before` and `<kind>_after` with both states of the documents that were read, and `<table>_kept` with the earlier
 * changes to keep. If a killed run is finished later (`again`), it is compared with the state before its first attempt.
 */
function sidesOf(kind: HistoryKind, run: string, again: boolean, isRead: boolean): string {
  const state = stateBefore(kind, { later: `run_id >= ${run}`, from: "previous.main." });
  const before = again
    ? `TEMP TABLE ${kind}_before AS SELECT row_number() OVER () AS row, * FROM (${state})`
    : `TEMP VIEW ${kind}_before AS SELECT rowid AS row, * FROM previous.main.${kind}`;
  const { table } = histories[kind];
  return `CREATE TEMP VIEW ${table}_kept AS FROM previous.main.${table} c WHERE run_id <> ${run}
      OR NOT EXISTS (FROM read_now n WHERE n.dataset_id = c.dataset_id AND n.document_id = c.document_id);
    CREATE ${before} SEMI JOIN read_now USING (dataset_id, document_id)${isRead ? "" : " LIMIT 0"};
    CREATE TEMP VIEW ${kind}_after AS FROM built.main.${kind} WHERE run_id = ${run}`;
}

/** Creates `<kind>_named`: the found changes with their names and lineages. Texts are not read. */
function nameFound(kind: HistoryKind, run: string): string {
  const { table, ids } = histories[kind];
  const oldIds = ids.map((id) => `coalesce(b.${id}, f.${id}) AS ${id}`);
  const newIds = ids.map((id) => `nullif(f.${id}, coalesce(b.${id}, f.${id})) AS new_${id}`);
  const idsNow = ids.map((id) => `arg_max(coalesce(new_${id}, ${id}), run_id) AS ${id}`);
  const list = ["row", "dataset_id", "document_id", ...ids].join(", ");
  const known = ids.map((id) => `l.${id} = CASE WHEN f.row IS NOT NULL THEN f.${id} END`); // an added row has none
  return `CREATE TEMP TABLE ${kind}_named AS
    WITH found AS (
      SELECT f.* EXCLUDE (${ids.join(", ")}), ${changeSql(kind)} AS change, ${[...oldIds, ...newIds].join(", ")},
        coalesce(nullif(d.run_id, ${run}), first.older_run_id) AS older_run_id
      FROM ${kind}_found f LEFT JOIN (SELECT ${list} FROM ${kind}_before) b ON b.row = f.row
      LEFT JOIN previous.main.documents d ON d.dataset_id = f.dataset_id AND d.document_id = f.document_id
      LEFT JOIN (${olderRuns(kind, run)}) first ON first.dataset_id = f.dataset_id AND first.document_id = f.document_id
    ), lineages AS (
      SELECT lineage, any_value(dataset_id) AS dataset_id, any_value(document_id) AS document_id, ${idsNow.join(", ")}
      FROM ${table}_kept GROUP BY lineage HAVING arg_max(change, run_id) <> 'removed'
    )
    SELECT f.*, coalesce(l.lineage, (SELECT coalesce(max(lineage), 0) FROM ${table}_kept) + row_number() OVER ()) AS lineage
    FROM found f LEFT JOIN lineages l ON f.dataset_id = l.dataset_id AND f.document_id = l.document_id AND ${known.join(" AND ")}`;
}

/** SQL: for each document with changes from an earlier attempt at this run, the run that had read it before. */
function olderRuns(kind: HistoryKind, run: string): string {
  return `SELECT dataset_id, document_id, any_value(older_run_id) AS older_run_id
    FROM previous.main.${histories[kind].table} WHERE run_id = ${run} GROUP BY ALL`;
}

/**
 * SQL: fills the table of changes with the earlier changes, then the new ones. Removed, changed and lost rows include their
 * old values. Uses one statement, because appending to an existing table leaves holes in the file. Tells DuckDB to keep the
 * join side without texts in memory.
 */
function insertNamed(kind: HistoryKind, run: string): string {
  const { table, ids, compared } = histories[kind];
  const renewed = ids.map((id) => `new_${id}`);
  const known = [
    `${run} AS run_id`,
    "f.change",
    "f.differs",
    "f.lineage",
    "f.older_run_id",
    "f.lost",
    "f.manual_edit",
    ...renewed,
  ].join(", ");
  const place = ["dataset_id", "document_id", ...ids].map((name) => `f.${name}`).join(", ");
  const values = compared
    .filter(({ name }) => !ids.includes(name))
    .map(({ name }) => {
      const recorded = `f.change IN ('changed', 'removed') OR f.lost IS NOT NULL OR list_contains(f.differs, '${name}')`;
      return `CASE WHEN ${recorded} THEN b."${name}" END AS "${name}"`;
    });
  return `SET disabled_optimizers = 'join_order,build_side_probe_side';
    INSERT INTO ${table} BY NAME FROM ${table}_kept
      UNION ALL BY NAME SELECT ${known}, ${place}, ${values.join(", ")}
        FROM ${kind}_before b JOIN ${kind}_named f ON b.row = f.row
      UNION ALL BY NAME SELECT ${known}, ${place} FROM ${kind}_named f WHERE f.row IS NULL;
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

/**
 * Creates `chunks_found` and `child_chunks_found` from `<kind>_before` and `<kind>_after`, with a row for every removed, added or
 * changed row. `row` refers to `<kind>_before`, or is null; the ids refer to the current row.
 *
 * Most documents have the same ids as before, so comparing their rows is enough. Only the others, in the table `loose`, are
 * paired, and can have lost rows.
 */
async function findChanges(connection: Connection, last: string, signal: AbortSignal): Promise<void> {
  await connection.run("CREATE TEMP TABLE loose (dataset_id VARCHAR, document_id VARCHAR)");
  const loose = await connection.run(looseDocuments());
  await connection.run(historyKinds.map(foundById).join(";\n"));
  if (loose.rowsChanged === 0) return;
  await connection.run("ATTACH ':memory:' AS comparison; USE comparison");
  await compareLoose(connection, last, signal);
  await connection.run(`USE built; ${historyKinds.map(foundByPair).join(";\n")}; DETACH comparison`);
}

/** Compares both states of the documents in `loose`, the older one as of the run `last`. A row can only be lost if both are complete. */
async function compareLoose(connection: Connection, last: string, signal: AbortSignal): Promise<void> {
  const found = await rowsOf(
    connection,
    `SELECT dataset_id, document_id, coalesce(o.status = 'complete' AND n.status = 'complete', false) AS in_both,
      coalesce(o.doc_form = 'qa_model', false) AS is_qa
    FROM loose JOIN read_now n USING (dataset_id, document_id) LEFT JOIN previous.main.documents o USING (dataset_id, document_id)`,
  );
  const documents = found.map(({ dataset_id, document_id, in_both, is_qa }) => ({
    ...{ dataset_id: String(dataset_id), document_id: String(document_id), compared: true },
    ...{ in_both: in_both === true, is_qa: is_qa === true },
  }));
  const history = { catalog: "previous", run_id: last };
  const old = looseRows("before", `previous.main.document_details WHERE run_id <= ${sqlText(last)}`);
  const states = { old, new: looseRows("after", "built.main.document_details") };
  const { compareStates } = await import("../compare/compare-states.js"); // slow to load; most runs find no document to pair
  await compareStates(connection, { documents, history, ...states }, signal);
}

/** One state of the documents in `loose`. Their details are used only if they are from the run that read the document. */
function looseRows(side: "before" | "after", details: string): StateRows {
  const rowsFrom = (kind: HistoryKind | "document_details", table: string) => {
    const json = columns[kind].filter(({ type }) => isJson(type)).map(({ name }) => `${name}::VARCHAR AS ${name}`);
    return `(SELECT * REPLACE (${json.join(", ")}) FROM ${table} SEMI JOIN loose USING (dataset_id, document_id))`;
  };
  const documents = side === "before" ? "previous.main.documents" : "built.main.documents";
  return {
    chunks: rowsFrom("chunks", `chunks_${side}`),
    child_chunks: rowsFrom("child_chunks", `child_chunks_${side}`),
    document_details: rowsFrom(
      "document_details",
      `(FROM ${details}) SEMI JOIN ${documents} USING (dataset_id, document_id, run_id)`,
    ),
  };
}

/** SQL: adds the documents that have rows without a counterpart of the same id. */
function looseDocuments(): string {
  const without = (kind: HistoryKind, side: string, other: string) =>
    `SELECT dataset_id, document_id FROM ${kind}_${side} s ANTI JOIN ${kind}_${other} o ON ${sameRow(kind, "s", "o")}`;
  const all = historyKinds.flatMap((kind) => [without(kind, "before", "after"), without(kind, "after", "before")]);
  return `INSERT INTO loose SELECT DISTINCT * FROM (${all.join(" UNION ALL ")})`;
}

function foundById(kind: HistoryKind): string {
  const list = histories[kind].ids.map((id) => `after.${id}`).join(", ");
  return `CREATE TEMP TABLE ${kind}_found AS
    SELECT before.row, before.dataset_id, before.document_id, ${list}, ${differsSql(kind)} AS differs,
      NULL::VARCHAR[] AS lost, NULL::VARCHAR AS manual_edit
    FROM ${marked(kind, "before")} JOIN ${marked(kind, "after")} ON ${sameRow(kind, "before", "after")}
    ANTI JOIN loose l ON before.dataset_id = l.dataset_id AND before.document_id = l.document_id
    WHERE ${isDifferent(kind)}`;
}

/** SQL: adds the changed, removed and added rows of the documents in `loose`, with their losses. */
function foundByPair(kind: HistoryKind): string {
  const { ids } = histories[kind];
  const sideOf = (side: "before" | "after") =>
    [`m.dataset_id = ${side}.dataset_id`, `m.document_id = ${side}.document_id`]
      .concat(ids.map((id) => `m.${side}_${id} = ${side}.${id}`))
      .join(" AND ");
  const list = ids.map((id) => `after.${id}`).join(", ");
  const lost = "l.lost, l.manual_edit";
  return `INSERT INTO ${kind}_found
    WITH pairs AS (FROM matched_${kind}), lost AS (
      SELECT row AS before_row, manual_edit, list_filter([CASE WHEN text_lost THEN 'text' END,
        CASE WHEN keywords_lost THEN 'keywords' END, CASE WHEN enabled_again THEN 'disabled' END], name -> name IS NOT NULL) AS lost
      FROM comparison.main.losses WHERE level || 's' = '${kind}'
    )
    SELECT before.row, before.dataset_id, before.document_id, ${list}, ${differsSql(kind)}, ${lost}
    FROM pairs m JOIN ${marked(kind, "before")} ON ${sideOf("before")} JOIN ${marked(kind, "after")} ON ${sideOf("after")}
    LEFT JOIN lost l USING (before_row)
    WHERE m.matched_by IS NOT NULL AND (${isDifferent(kind)})
    UNION ALL
    SELECT before.row, before.dataset_id, before.document_id, ${ids.map(() => "NULL").join(", ")}, NULL, ${lost}
    FROM pairs m JOIN ${kind}_before before ON ${sideOf("before")} LEFT JOIN lost l USING (before_row) WHERE m.after_id IS NULL
    UNION ALL
    SELECT NULL, m.dataset_id, m.document_id, ${ids.map((id) => `m.after_${id}`).join(", ")}, NULL, NULL, NULL
    FROM pairs m WHERE m.before_id IS NULL`;
}

/** SQL: the rows of one state, with 128 bits of SHA-256 instead of long values, so that a join needs little memory per row. */
function marked(kind: HistoryKind, side: "before" | "after"): string {
  const { ids, compared } = histories[kind];
  const values = compared
    .filter(({ name }) => !ids.includes(name))
    .map(({ name, type, long }) => {
      const text = type === "strings" ? `to_json("${name}")::VARCHAR` : `"${name}"::VARCHAR`;
      const short = !long && ["text", "integer", "boolean", "time"].includes(type);
      return short ? `"${name}"` : `left(sha256(${text}), 32)::UUID AS "${name}"`;
    });
  const row = side === "before" ? ["row"] : [];
  return `(SELECT ${[...row, "dataset_id", "document_id", ...ids, ...values].join(", ")} FROM ${kind}_${side}) ${side}`;
}

function isDifferent(kind: HistoryKind): string {
  return histories[kind].compared.map(({ name }) => `before."${name}" IS DISTINCT FROM after."${name}"`).join(" OR ");
}

function differsSql(kind: HistoryKind): string {
  const names = histories[kind].compared.map(
    ({ name }) => `CASE WHEN before."${name}" IS DISTINCT FROM after."${name}" THEN '${name}' END`,
  );
  return `[name FOR name IN [${names.join(", ")}] IF name IS NOT NULL]`;
}
