import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import { type ChangedKind, type ChangeFacts, changedKinds, type RunChanges } from "../report-facts.js";
import { askDatabase, type FactSource, numberFrom } from "./fact-source.js";

/** Runs that are shown, the newest ones. */
const mostRuns = 40;

/** The words of the history for the kinds of changes; any other change is one of `fields`, but for `hit_count`. */
const words = {
  chunks: {
    added: "added",
    removed: "removed",
    changed: "changed",
    moved: "moved",
    reindexed: "reindexed",
    switched: "enabled",
  },
  children: { children_added: "added", children_removed: "removed", children_changed: "changed" },
};

/** Gathers what every run up to this one found changed, from the history in the database of the job. */
export async function gatherChanges(connection: Connection, source: FactSource): Promise<ChangeFacts> {
  if (!source.hasHistory) return { runs: [], total: 0, query: null, reason: source.reason };
  const upToThis = `run_id <= ${sqlText(source.run_id)}`;
  const [counted] = await rowsOf(connection, `SELECT count(*) AS total FROM job.main.runs WHERE ${upToThis}`);
  const rows = await rowsOf(connection, runsSql(upToThis));
  return {
    runs: rows.map(runFrom),
    total: numberFrom(counted?.total),
    query: askDatabase(source, `FROM changes_per_run WHERE ${upToThis} ORDER BY run_id`),
    reason: null,
  };
}

/** SQL: the newest runs, oldest first, and the changes that each found. */
function runsSql(upToThis: string): string {
  const counts = (table: string, named: Readonly<Record<string, string>>, more = "") => {
    const each = Object.entries(named).map(([kind, word]) => `count(*) FILTER (change = '${word}') AS ${kind}`);
    return `(SELECT run_id, ${each.join(", ")}${more} FROM job.main.${table} SEMI JOIN newest USING (run_id) GROUP BY run_id)`;
  };
  const others = (named: Readonly<Record<string, string>>) =>
    `count(*) FILTER (change NOT IN (${[...Object.values(named), "hit_count"].map(sqlText).join(", ")}))`;
  const fields = `, ${others(words.chunks)} AS fields`;
  const childrenFields = `, ${others(words.children)} AS children_fields`;
  return `WITH newest AS (FROM job.main.runs WHERE ${upToThis} ORDER BY run_id DESC LIMIT ${mostRuns})
    SELECT run_id, epoch_ms(started_at) AS started_at, status, chunks, changes IS NOT NULL AS is_known, ${changedKinds.join(", ")}
    FROM newest LEFT JOIN ${counts("chunk_changes", words.chunks, fields)} USING (run_id)
      LEFT JOIN ${counts("child_chunk_changes", words.children, childrenFields)} USING (run_id)
    ORDER BY run_id`;
}

function runFrom(row: SqlRow): RunChanges {
  const count = (kind: ChangedKind) => numberFrom(row[kind]);
  return {
    run_id: String(row.run_id),
    started_at: numberFrom(row.started_at),
    status: String(row.status),
    chunks: numberFrom(row.chunks),
    counts: row.is_known === true ? countsFrom(count) : null,
  };
}

function countsFrom(count: (kind: ChangedKind) => number): Readonly<Record<ChangedKind, number>> {
  return {
    added: count("added"),
    removed: count("removed"),
    changed: count("changed"),
    moved: count("moved"),
    reindexed: count("reindexed"),
    switched: count("switched"),
    fields: count("fields"),
    children_added: count("children_added"),
    children_removed: count("children_removed"),
    children_changed: count("children_changed"),
    children_fields: count("children_fields"),
  };
}
