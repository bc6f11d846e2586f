import { documentNames, type View } from "./state-views.js";

/** SQL: lineages of chunks that are still there, with the id that each has now. */
const alive = `
  SELECT lineage, any_value(dataset_id) AS dataset_id, any_value(document_id) AS document_id,
    arg_max(coalesce(new_id, id), run_id) AS id
  FROM chunk_changes GROUP BY lineage HAVING arg_max(change, run_id) <> 'removed'`;

/** SQL: of each lineage, what a column was before every change that recorded it, and what it was afterwards. */
function befores(column: string): string {
  return `
  SELECT b.run_id, b.lineage, b.dataset_id, b.document_id, b.change, b.differs, b.id, b.new_id, b.position, b.${column} AS before,
    CASE WHEN b.has_next THEN b.next ELSE c.${column} END AS after
  FROM (
    SELECT *, lead(${column}) OVER lineage AS next, lead(true) OVER lineage IS NOT NULL AS has_next FROM chunk_changes
    WHERE change IN ('changed', 'removed') OR list_contains(differs, '${column}')
    WINDOW lineage AS (PARTITION BY lineage ORDER BY run_id)
  ) b LEFT JOIN (${alive}) a USING (lineage)
    LEFT JOIN chunks c ON a.dataset_id = c.dataset_id AND a.document_id = c.document_id AND a.id = c.id`;
}

const kindsOf = (table: string, named: Readonly<Record<string, string>>) =>
  `(SELECT run_id, ${Object.entries(named)
    .map(([change, name]) => `count(*) FILTER (change = '${change}') AS ${name}`)
    .join(", ")} FROM ${table} GROUP BY run_id)`;

const ofChunks = {
  added: "added",
  removed: "removed",
  changed: "changed",
  moved: "moved",
  reindexed: "reindexed",
  enabled: "switched",
  keywords: "keywords",
  status: "status_changed",
  hit_count: "only_hits",
  other: "other",
};
const ofChildren = {
  added: "children_added",
  removed: "children_removed",
  changed: "children_changed",
  reindexed: "children_reindexed",
};
const counts = Object.values({
  ...ofChunks,
  ...Object.fromEntries(Object.values(ofChildren).map((each) => [each, each])),
});

/** The views on what has changed. */
export const historyViews: Readonly<Record<string, View>> = {
  changes_per_run: {
    about:
      "every run: how many chunks and child chunks it found added, removed, changed and so on; null in the first run",
    sql: `SELECT r.run_id, r.started_at, r.status, ${counts.map((name) => `CASE WHEN r.changes IS NOT NULL THEN coalesce(${name}, 0) END AS ${name}`).join(", ")}
      FROM runs r LEFT JOIN ${kindsOf("chunk_changes", ofChunks)} c USING (run_id)
      LEFT JOIN ${kindsOf("child_chunk_changes", ofChildren)} k USING (run_id)`,
  },
  edits: {
    about: "every change of a text: the content and the answer of a chunk before it and after it; id is that before",
    sql: `SELECT t.run_id, t.dataset_id, t.document_id, i.document_name, t.id, t.new_id, t.position, t.before, t.after, a.before AS answer_before, a.after AS answer_after
      FROM (${befores("content")}) t JOIN (${befores("answer")}) a USING (lineage, run_id)
        LEFT JOIN ${documentNames} i ON t.dataset_id = i.dataset_id AND t.document_id = i.document_id
      WHERE t.change = 'changed'`,
  },
  hits: {
    about:
      "what the hit_count of a chunk gained from one run to the next; a re-index sets it to 0, which is a reset and no loss",
    sql: `SELECT run_id, dataset_id, document_id, document_name, coalesce(new_id, id) AS id, before, after,
        CASE WHEN reset THEN coalesce(after, 0) ELSE coalesce(after, 0) - coalesce(before, 0) END AS gained, reset
      FROM (SELECT *, new_id IS NOT NULL OR coalesce(after, 0) < coalesce(before, 0) AS reset FROM (${befores("hit_count")}))
        LEFT JOIN ${documentNames} USING (dataset_id, document_id)
      WHERE list_contains(differs, 'hit_count')`,
  },
  never_hit: {
    about: "chunks that were never retrieved as far as is known: neither now nor before a re-index",
    sql: `SELECT c.dataset_id, c.document_id, i.document_name, c.id, c.position, c.word_count, c.tokens, c.created_at, c.content FROM chunks c ANTI JOIN (
        SELECT a.* FROM (${alive}) a SEMI JOIN (FROM chunk_changes WHERE hit_count > 0) USING (lineage)
      ) h ON c.dataset_id = h.dataset_id AND c.document_id = h.document_id AND c.id = h.id
        LEFT JOIN ${documentNames} i ON c.dataset_id = i.dataset_id AND c.document_id = i.document_id
      WHERE c.hit_count = 0 AND c.enabled`,
  },
};
