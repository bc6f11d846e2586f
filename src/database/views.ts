import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlText, utcTime } from "../duckdb/sql.js";
import { columns } from "../rows/columns.js";
import { commentsOf, type HistoryKind, histories, historyKinds, tablesIn } from "./tables.js";

/**
 * Recreates the views and macros, each with a comment, also on every column. They need no extension and change nothing. Keeps a
 * table that a user created under the name of a view.
 */
export async function createViews(connection: Connection): Promise<void> {
  const taken = await tablesIn(connection);
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
 * SQL: creates the macro that returns the rows of a kind as of a run. It fails for a time in another format than a run id has,
 * because ids are compared as text. It returns nothing for a time before the first run.
 */
function stateMacro(kind: HistoryKind): readonly string[] {
  const about = `${kind} as they were after the last run up to this one: FROM ${kind}_at('20261120T020000123Z')`;
  const isOther = "regexp_matches(run, '^[0-9]') AND NOT regexp_full_match(run, '[0-9]{8}(T[0-9]{9}Z)?')";
  const wanted = `'expected the id of a run or a time in that form, UTC, such as 20261120T020000123Z or 20261120; got ' || run`;
  return [
    `CREATE OR REPLACE MACRO ${kind}_at(run) AS TABLE
      SELECT * FROM (${stateBefore(kind, { later: "run_id > run" })})
      WHERE (SELECT CASE WHEN ${isOther} THEN error(${wanted}) ELSE true END) AND EXISTS (FROM runs WHERE run_id <= run)`,
    `COMMENT ON MACRO TABLE ${kind}_at IS ${sqlText(about)}`,
  ];
}

/** SQL: lineages of existing chunks, with their current ids. */
const alive = `
  SELECT lineage, any_value(dataset_id) AS dataset_id, any_value(document_id) AS document_id,
    arg_max(coalesce(new_id, id), run_id) AS id
  FROM chunk_changes GROUP BY lineage HAVING arg_max(change, run_id) <> 'removed'`;

/** SQL: every change that recorded this column, with the value of the column before and after the change. */
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
/** The comments of the columns of `changes_per_run` that hold counts. */
const aboutCounts: Readonly<Record<string, string>> = {
  added: "chunks added",
  removed: "chunks removed",
  changed: "chunks whose content or answer changed",
  moved: "chunks at a different position, otherwise the same",
  reindexed: "chunks with a new id, otherwise the same",
  switched: "chunks enabled or disabled",
  keywords: "chunks with different keywords",
  status_changed: "chunks with a different status",
  only_hits: "chunks in which only hit_count changed",
  other: "chunks that differ in another column",
  children_added: "child chunks added",
  children_removed: "child chunks removed",
  children_changed: "child chunks whose content changed",
  children_reindexed: "child chunks with a new id, otherwise the same",
};
const counts = Object.keys(aboutCounts);

/** The comment on `document_name`, which views add to the id of a document. */
const documentName = { document_name: "the name of the document, as last listed" };

/** SQL: the names of documents, from the lists of the service or from their details. */
const documentNames = `(SELECT dataset_id, document_id, coalesce(any_value(i.name), any_value(d.name)) AS document_name
  FROM document_info i FULL JOIN document_details d USING (dataset_id, document_id) GROUP BY ALL)`;

/** The views that show what has changed between runs. */
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
    about: "every change of a text: content and answer of a chunk before and after; id is the one before the change",
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
  lost_texts: {
    about:
      "every chunk and child chunk that was lost between two runs, with its text; kbdump diff between these runs counts the same",
    columns: {
      ...commentsOf("chunk_changes", "older_run_id"),
      run_id: "the run that no longer found it",
      ...commentsOf("chunk_changes", "dataset_id", "document_id"),
      ...documentName,
      level: "chunk or child_chunk",
      segment_id: "for a child chunk, its chunk",
      id: "the chunk or child chunk that is gone",
      ...commentsOf("chunk_changes", "position", "lost", "manual_edit", "content", "answer", "keywords"),
      ...commentsOf("chunk_changes", "updated_by", "updated_at"),
    },
    sql: `SELECT older_run_id, run_id, dataset_id, document_id, document_name, level, segment_id, id, position, lost, manual_edit,
        content, answer, keywords, updated_by, updated_at
      FROM (
        SELECT 'chunk' AS level, NULL::VARCHAR AS segment_id, * FROM chunk_changes WHERE lost IS NOT NULL
        UNION ALL BY NAME SELECT 'child_chunk' AS level, * FROM child_chunk_changes WHERE lost IS NOT NULL
      ) LEFT JOIN ${documentNames} USING (dataset_id, document_id)`,
  },
  hits: {
    about:
      "how much the hit_count of a chunk grew from one run to the next; a re-index sets it to 0, which is a reset, not a loss",
    columns: {
      ...commentsOf("chunk_changes", "run_id", "dataset_id", "document_id"),
      ...documentName,
      id: "the chunk, after the change",
      before: "hit_count before the change",
      after: "hit_count after the change",
      gained: "hits between the two runs, as far as known",
      reset: "whether a re-index set hit_count to 0 in between",
    },
    sql: `SELECT run_id, dataset_id, document_id, document_name, coalesce(new_id, id) AS id, before, after,
        CASE WHEN reset THEN coalesce(after, 0) ELSE coalesce(after, 0) - coalesce(before, 0) END AS gained, reset
      FROM (SELECT *, new_id IS NOT NULL OR coalesce(after, 0) < coalesce(before, 0) AS reset FROM (${befores("hit_count")}))
        LEFT JOIN ${documentNames} USING (dataset_id, document_id)
      WHERE list_contains(differs, 'hit_count')`,
  },
  never_hit: {
    about: "chunks that were never retrieved, as far as known: neither now nor before a re-index",
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

/** A view: its purpose, its columns with comments, and its SQL. */
interface View {
  readonly about: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly sql: string;
}

/** SQL: the time between two moments. Avoids subtracting times with a zone, because that follows the session's clock changes. */
const between = (from: string, to: string) => `${utcTime(to)} - ${utcTime(from)}`;

const documentStatistics = `
  SELECT d.dataset_id, d.document_id, i.document_name, d.doc_form, d.status, d.run_id, coalesce(c.chunks, 0) AS chunks,
    coalesce(k.child_chunks, 0) AS child_chunks, c.* EXCLUDE (dataset_id, document_id, chunks)
  FROM documents d
  LEFT JOIN ${documentNames} i
    USING (dataset_id, document_id)
  LEFT JOIN (
    SELECT dataset_id, document_id, count(*) AS chunks, sum(word_count)::BIGINT AS characters, sum(tokens)::BIGINT AS tokens,
      min(word_count) AS shortest, quantile_cont(word_count, 0.25) AS quartile_1, quantile_cont(word_count, 0.5) AS median,
      quantile_cont(word_count, 0.75) AS quartile_3, max(word_count) AS longest, sum(hit_count)::BIGINT AS hits,
      round(count(*) FILTER (hit_count = 0) / count(*), 3) AS share_without_hits,
      count(*) FILTER (NOT enabled) AS disabled, count(*) FILTER (error IS NOT NULL OR status = 'error') AS errors,
      count(*) FILTER (updated_by IS NOT NULL) AS edited
    FROM chunks GROUP BY ALL
  ) c USING (dataset_id, document_id)
  LEFT JOIN (SELECT dataset_id, document_id, count(*) AS child_chunks FROM child_chunks GROUP BY ALL) k
    USING (dataset_id, document_id)`;

const statusTimeline = `
  SELECT n.dataset_id, n.batch, n.document_id, i.document_name, n.indexing_status, n.completed_segments, n.total_segments,
    ${between("n.processing_started_at", "n.parsing_completed_at")} AS parsing,
    ${between("n.parsing_completed_at", "n.cleaning_completed_at")} AS cleaning,
    ${between("n.cleaning_completed_at", "n.splitting_completed_at")} AS splitting,
    ${between("n.splitting_completed_at", "n.completed_at")} AS indexing,
    ${between("n.processing_started_at", "n.completed_at")} AS took,
    CASE WHEN n.indexing_status <> 'completed' THEN ${between("n.processing_started_at", "now()")} END AS age,
    CASE WHEN n.indexing_status <> 'completed' THEN ${between("coalesce(m.moved_at, n.first_at)", "n.captured_at")} END AS unmoved,
    n.error, n.captured_at
  FROM (
    SELECT *, min(captured_at) OVER (PARTITION BY dataset_id, batch, document_id) AS first_at FROM indexing_status
    QUALIFY row_number() OVER (PARTITION BY dataset_id, batch, document_id ORDER BY captured_at DESC) = 1
  ) n
  LEFT JOIN (
    SELECT dataset_id, batch, document_id, max(captured_at) AS moved_at FROM (
      SELECT *, lag(indexing_status) OVER place AS was, lag(completed_segments) OVER place AS had
      FROM indexing_status WINDOW place AS (PARTITION BY dataset_id, batch, document_id ORDER BY captured_at)
    ) WHERE was IS DISTINCT FROM indexing_status OR had IS DISTINCT FROM completed_segments GROUP BY ALL
  ) m ON n.dataset_id = m.dataset_id AND n.batch IS NOT DISTINCT FROM m.batch AND n.document_id = m.document_id
  LEFT JOIN ${documentNames} i ON n.dataset_id = i.dataset_id AND n.document_id = i.document_id`;

const coverage = `
  WITH last AS (SELECT max(run_id) AS run_id FROM runs),
  read AS (
    SELECT coalesce(d.dataset_id, f.dataset_id) AS dataset_id, coalesce(d.document_id, f.document_id) AS document_id,
      any_value(d.status) AS status, any_value(d.run_id) AS run_id, max(f.run_id) AS failed_run,
      arg_max(f.status, f.run_id) AS failed_as, arg_max_null(f.error, f.run_id) AS reason,
      count(f.run_id) FILTER (d.run_id IS NULL OR f.run_id > d.run_id OR d.status <> 'complete') AS failures
    FROM documents d FULL JOIN failed_reads f USING (dataset_id, document_id) GROUP BY 1, 2
  )
  SELECT r.dataset_id, r.document_id, i.document_name,
    CASE WHEN r.status = 'complete' AND r.run_id = last.run_id THEN 'fresh'
      WHEN greatest(r.run_id, r.failed_run) < last.run_id THEN 'not in the last run'
      WHEN r.status = 'complete' THEN 'stale' WHEN r.status IS NULL THEN 'never read' ELSE 'unstable' END AS state,
    CASE WHEN r.status = 'complete' THEN r.run_id END AS good_run, g.finished_at AS good_at,
    ${between("g.finished_at", "now()")} AS age, r.failures, CASE WHEN r.failures > 0 THEN r.failed_run END AS failed_run,
    CASE WHEN r.failures > 0 THEN r.failed_as END AS failed_as, CASE WHEN r.failures > 0 THEN r.reason END AS reason
  FROM read r CROSS JOIN last LEFT JOIN runs g ON r.status = 'complete' AND r.run_id = g.run_id
  LEFT JOIN ${documentNames} i
    ON r.dataset_id = i.dataset_id AND r.document_id = i.document_id`;

/** The views on the current state. */
export const stateViews: Readonly<Record<string, View>> = {
  document_statistics: {
    about:
      "every document: chunks, characters, tokens, the lengths of its chunks in characters, hits and the share of chunks without hits, how many are disabled, in error or edited",
    columns: {
      ...commentsOf("documents", "dataset_id", "document_id"),
      ...documentName,
      ...commentsOf("documents", "doc_form", "status", "run_id"),
      chunks: "chunks of the document",
      child_chunks: "child chunks of the document",
      characters: "characters of all chunks",
      tokens: "tokens of all chunks",
      shortest: "characters of the shortest chunk",
      quartile_1: "characters that a quarter of the chunks do not exceed",
      median: "characters that half of the chunks do not exceed",
      quartile_3: "characters that three quarters of the chunks do not exceed",
      longest: "characters of the longest chunk",
      hits: "sum of the hit_count of all chunks",
      share_without_hits:
        "share of the chunks, 0 to 1, whose hit_count is 0 now; the view never_hit also looks at what was before a re-index",
      disabled: "chunks that are not retrieved",
      errors: "chunks in error",
      edited: "chunks that a person has edited",
    },
    sql: documentStatistics,
  },
  status_timeline: {
    about:
      "the newest status of every document of a batch: how long each stage took and, until it is completed, its age and the time without progress",
    columns: {
      ...commentsOf("indexing_status", "dataset_id", "batch", "document_id"),
      ...documentName,
      ...commentsOf("indexing_status", "indexing_status", "completed_segments", "total_segments"),
      parsing: "time from the start of the processing to the end of the parsing",
      cleaning: "time from then to the end of the cleaning",
      splitting: "time from then to the end of the splitting",
      indexing: "time from then to the end of the indexing",
      took: "time from the start of the processing to its end",
      age: "time since the start of the processing; null if it is completed",
      unmoved: "time without progress; null if it is completed",
      ...commentsOf("indexing_status", "error", "captured_at"),
    },
    sql: statusTimeline,
  },
  coverage: {
    about:
      "every document: whether the last run read it completely (fresh; otherwise stale, never read, unstable, or not in the last run), when it was last read completely, and what has failed since",
    columns: {
      ...commentsOf("documents", "dataset_id", "document_id"),
      ...documentName,
      state: "fresh, stale, never read, unstable, or not in the last run",
      good_run: "the last run that read it completely",
      good_at: "when that run had read everything",
      age: "time since good_at",
      failures: "runs since then that could not read it completely",
      failed_run: "the last of these runs",
      failed_as: "failed or unstable, as that run found it",
      reason: "why that run could not read it completely",
    },
    sql: coverage,
  },
  duplicates: {
    about:
      "contents that occur in several chunks, with the chunks, the number of different answers, and the tokens that the copies cost",
    columns: {
      copies: "chunks with this content",
      documents: "documents with this content",
      document_names: "their names; null if no run listed them",
      answers: "different answers of these chunks",
      tokens: "tokens of all copies but one",
      content: "the content",
      ids: "the chunks, in the order of documents and positions",
    },
    sql: `SELECT count(*) AS copies, count(DISTINCT (dataset_id, document_id)) AS documents,
        list(DISTINCT document_name ORDER BY document_name) FILTER (document_name IS NOT NULL) AS document_names,
        count(DISTINCT coalesce(answer, '')) AS answers,
        (sum(tokens) - max(tokens))::BIGINT AS tokens, any_value(content) AS content, list(id ORDER BY document_id, position, id) AS ids
      FROM chunks LEFT JOIN ${documentNames} USING (dataset_id, document_id)
      WHERE content IS NOT NULL GROUP BY sha256(content) HAVING count(*) > 1`,
  },
  orphans: {
    about: "child chunks whose parent is missing",
    columns: { ...commentsOf("child_chunks"), ...documentName },
    sql: `SELECT k.dataset_id, k.document_id, i.document_name, k.* EXCLUDE (dataset_id, document_id) FROM child_chunks k
      ANTI JOIN chunks c ON k.dataset_id = c.dataset_id AND k.document_id = c.document_id AND k.segment_id = c.id
      LEFT JOIN ${documentNames} i ON k.dataset_id = i.dataset_id AND k.document_id = i.document_id`,
  },
};

interface StateOptions {
  /** SQL: a condition on `run_id` that selects the changes to undo. */
  readonly later: string;
  /** The prefix of table names: empty, or a database and a dot. */
  readonly from?: string;
}

/**
 * SQL: the rows of a kind before some changes. Each column of a chunk gets its old value from the first of these changes that
 * recorded it; other columns keep their current value.
 */
export function stateBefore(kind: HistoryKind, { later, from = "" }: StateOptions): string {
  const { table, ids, compared } = histories[kind];
  const kept = columns[kind].filter((column) => !compared.includes(column) || ids.includes(column.name));
  const known = kept.map(({ name }) => `arg_min("${name}", run_id) AS "${name}"`);
  const alive = ids.map(
    (id) => `CASE WHEN arg_max(change, run_id) <> 'removed'
      THEN arg_max(coalesce(new_${id}, "${id}"), run_id) END AS now_${id}`,
  );
  const recorded = compared
    .filter(({ name }) => !ids.includes(name))
    .map(({ name }) => {
      const condition = `whole OR list_contains(differs, '${name}')`;
      return `bool_or(${condition}) AS "had_${name}", arg_min_null("${name}", run_id) FILTER (${condition}) AS "${name}"`;
    });
  const values = columns[kind].map(({ name }) => {
    const had = kept.some((column) => column.name === name) ? "u.lineage IS NOT NULL" : `u."had_${name}"`;
    return `CASE WHEN ${had} THEN u."${name}" ELSE n."${name}" END AS "${name}"`;
  });
  const same = ["dataset_id", "document_id"].map((name) => `n.${name} = u.${name}`);
  const now = ids.map((id) => `n."${id}" = u.now_${id}`);
  return `SELECT ${values.join(", ")}
    FROM ${from}${kind} n FULL JOIN (
      SELECT lineage, arg_min(change, run_id) AS first_change, ${[...known, ...alive, ...recorded].join(", ")}
      FROM (SELECT *, change IN ('changed', 'removed') AS whole FROM ${from}${table} WHERE ${later})
      GROUP BY lineage
    ) u ON ${[...same, ...now].join(" AND ")}
    WHERE u.first_change IS DISTINCT FROM 'added'`;
}
