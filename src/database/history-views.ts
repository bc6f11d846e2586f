import { documentName, documentNames, type View } from "./state-views.js";
import { commentsOf } from "./tables.js";

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
/** The counts of changes_per_run. */
const aboutCounts: Readonly<Record<string, string>> = {
  added: "chunks added",
  removed: "chunks removed",
  changed: "chunks whose content or answer changed",
  moved: "chunks at another position, otherwise the same",
  reindexed: "chunks with a new id, otherwise the same",
  switched: "chunks enabled or disabled",
  keywords: "chunks with other keywords",
  status_changed: "chunks with another status",
  only_hits: "chunks of which only hit_count changed",
  other: "chunks that differ in another column",
  children_added: "child chunks added",
  children_removed: "child chunks removed",
  children_changed: "child chunks whose content changed",
  children_reindexed: "child chunks with a new id, otherwise the same",
};
const counts = Object.keys(aboutCounts);

/** The views on what has changed. */
export const historyViews: Readonly<Record<string, View>> = {
  changes_per_run: {
    about:
      "every run: how many chunks and child chunks it found added, removed, changed and so on; null in the first run",
    columns: { ...commentsOf("runs", "run_id", "started_at", "status"), ...aboutCounts },
    sql: `SELECT r.run_id, r.started_at, r.status, ${counts.map((name) => `CASE WHEN r.changes IS NOT NULL THEN coalesce(${name}, 0) END AS ${name}`).join(", ")}
      FROM runs r LEFT JOIN ${kindsOf("chunk_changes", ofChunks)} c USING (run_id)
      LEFT JOIN ${kindsOf("child_chunk_changes", ofChildren)} k USING (run_id)`,
  },
  edits: {
    about: "every change of a text: the content and the answer of a chunk before it and after it; id is that before",
    columns: {
      ...commentsOf("chunk_changes", "run_id", "dataset_id", "document_id"),
      ...documentName,
      id: "the chunk, before the change",
      ...commentsOf("chunk_changes", "new_id"),
      position: "place in the document, before the change",
      before: "the content before the change",
      after: "the content after the change",
      answer_before: "the answer before the change",
      answer_after: "the answer after the change",
    },
    sql: `SELECT t.run_id, t.dataset_id, t.document_id, i.document_name, t.id, t.new_id, t.position, t.before, t.after, a.before AS answer_before, a.after AS answer_after
      FROM (${befores("content")}) t JOIN (${befores("answer")}) a USING (lineage, run_id)
        LEFT JOIN ${documentNames} i ON t.dataset_id = i.dataset_id AND t.document_id = i.document_id
      WHERE t.change = 'changed'`,
  },
  hits: {
    about:
      "what the hit_count of a chunk gained from one run to the next; a re-index sets it to 0, which is a reset and no loss",
    columns: {
      ...commentsOf("chunk_changes", "run_id", "dataset_id", "document_id"),
      ...documentName,
      id: "the chunk, after the change",
      before: "hit_count before the change",
      after: "hit_count after the change",
      gained: "hits between the two runs, as far as is known",
      reset: "whether a re-index set hit_count to 0 in between",
    },
    sql: `SELECT run_id, dataset_id, document_id, document_name, coalesce(new_id, id) AS id, before, after,
        CASE WHEN reset THEN coalesce(after, 0) ELSE coalesce(after, 0) - coalesce(before, 0) END AS gained, reset
      FROM (SELECT *, new_id IS NOT NULL OR coalesce(after, 0) < coalesce(before, 0) AS reset FROM (${befores("hit_count")}))
        LEFT JOIN ${documentNames} USING (dataset_id, document_id)
      WHERE list_contains(differs, 'hit_count')`,
  },
  never_hit: {
    about: "chunks that were never retrieved as far as is known: neither now nor before a re-index",
    columns: {
      ...commentsOf("chunks", "dataset_id", "document_id"),
      ...documentName,
      ...commentsOf("chunks", "id", "position", "word_count", "tokens", "created_at", "content"),
    },
    sql: `SELECT c.dataset_id, c.document_id, i.document_name, c.id, c.position, c.word_count, c.tokens, c.created_at, c.content FROM chunks c ANTI JOIN (
        SELECT a.* FROM (${alive}) a SEMI JOIN (FROM chunk_changes WHERE hit_count > 0) USING (lineage)
      ) h ON c.dataset_id = h.dataset_id AND c.document_id = h.document_id AND c.id = h.id
        LEFT JOIN ${documentNames} i ON c.dataset_id = i.dataset_id AND c.document_id = i.document_id
      WHERE c.hit_count = 0 AND c.enabled`,
  },
};
