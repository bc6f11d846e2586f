import type { Connection } from "../duckdb/open-duckdb.js";
import { matchRows } from "../match/match-rows.js";
import { type HistoryKind, histories, historyKinds, sameRow } from "./history.js";

/**
 * Makes `chunks_found` and `child_chunks_found` from `<kind>_before` and `<kind>_after`: a row for every row that is gone,
 * new or different. `row` is that of `<kind>_before`, or null; the ids say which row it is now.
 *
 * Most documents have the same ids as before, and need no more than one comparison of their rows. Only the others, in the
 * table `loose`, are matched by what they contain.
 */
export async function findChanges(connection: Connection): Promise<void> {
  await connection.run("CREATE TEMP TABLE loose (dataset_id VARCHAR, document_id VARCHAR)");
  const loose = await connection.run(looseDocuments());
  await connection.run(historyKinds.map(foundById).join(";\n"));
  if (loose.rowsChanged > 0) await connection.run([matchLoose(), ...historyKinds.map(foundByMatch)].join(";\n"));
}

/** SQL: adds the documents with rows that have no counterpart of the same id. */
function looseDocuments(): string {
  const without = (kind: HistoryKind, side: string, other: string) =>
    `SELECT dataset_id, document_id FROM ${kind}_${side} s ANTI JOIN ${kind}_${other} o ON ${sameRow(kind, "s", "o")}`;
  const all = historyKinds.flatMap((kind) => [without(kind, "before", "after"), without(kind, "after", "before")]);
  return `INSERT INTO loose SELECT DISTINCT * FROM (${all.join(" UNION ALL ")})`;
}

function foundById(kind: HistoryKind): string {
  const list = histories[kind].ids.map((id) => `after.${id}`).join(", ");
  return `CREATE TEMP TABLE ${kind}_found AS
    SELECT before.row, before.dataset_id, before.document_id, ${list}, ${differsSql(kind)} AS differs
    FROM ${marked(kind, "before")} JOIN ${marked(kind, "after")} ON ${sameRow(kind, "before", "after")}
    ANTI JOIN loose l ON before.dataset_id = l.dataset_id AND before.document_id = l.document_id
    WHERE ${isDifferent(kind)}`;
}

function matchLoose(): string {
  const tables = historyKinds.flatMap((kind) => [`${kind}_before`, `${kind}_after`]);
  return [
    ...tables.map(
      (name) => `CREATE TEMP VIEW loose_${name} AS FROM ${name} SEMI JOIN loose USING (dataset_id, document_id)`,
    ),
    matchRows("chunks", { before: "loose_chunks_before", after: "loose_chunks_after", into: "chunks_matched" }),
    matchRows("child_chunks", {
      before: "loose_child_chunks_before",
      after: "loose_child_chunks_after",
      into: "child_chunks_matched",
      parents: "chunks_matched",
    }),
  ].join(";\n");
}

/** SQL: adds the changed, the removed and the added rows of the matched documents. */
function foundByMatch(kind: HistoryKind): string {
  const { ids } = histories[kind];
  const sideOf = (side: "before" | "after") =>
    [`m.dataset_id = ${side}.dataset_id`, `m.document_id = ${side}.document_id`]
      .concat(ids.map((id) => `m.${side}_${id} = ${side}.${id}`))
      .join(" AND ");
  const list = ids.map((id) => `after.${id}`).join(", ");
  return `INSERT INTO ${kind}_found
    SELECT before.row, before.dataset_id, before.document_id, ${list}, ${differsSql(kind)}
    FROM ${kind}_matched m JOIN ${marked(kind, "before")} ON ${sideOf("before")} JOIN ${marked(kind, "after")} ON ${sideOf("after")}
    WHERE m.matched_by IS NOT NULL AND (${isDifferent(kind)})
    UNION ALL
    SELECT before.row, before.dataset_id, before.document_id, ${ids.map(() => "NULL").join(", ")}, NULL
    FROM ${kind}_matched m JOIN ${kind}_before before ON ${sideOf("before")} WHERE m.after_id IS NULL
    UNION ALL
    SELECT NULL, m.dataset_id, m.document_id, ${ids.map((id) => `m.after_${id}`).join(", ")}, NULL
    FROM ${kind}_matched m WHERE m.before_id IS NULL`;
}

/** SQL: the rows of a side, 128 bits of SHA-256 in the place of what may be long, so that a join holds little of each. */
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

/** SQL: the names of the columns that differ. */
function differsSql(kind: HistoryKind): string {
  const names = histories[kind].compared.map(
    ({ name }) => `CASE WHEN before."${name}" IS DISTINCT FROM after."${name}" THEN '${name}' END`,
  );
  return `[name FOR name IN [${names.join(", ")}] IF name IS NOT NULL]`;
}
