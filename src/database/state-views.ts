import { utcTime } from "../duckdb/sql-types.js";
import { commentsOf } from "./tables.js";

/** A view: what it answers, its columns and what each is, and how. */
export interface View {
  readonly about: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly sql: string;
}

/** The comment of the column that views add to an id. */
export const documentName = { document_name: "the name of the document, as it was listed last" };

/** SQL: the time from one moment to another; a difference of times with a zone would follow the clock changes of the session. */
const between = (from: string, to: string) => `${utcTime(to)} - ${utcTime(from)}`;

/** SQL: the names of documents, as far as a run listed them. */
export const documentNames =
  "(SELECT dataset_id, document_id, any_value(name) AS document_name FROM document_info GROUP BY ALL)";

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

/** The views on what is there now. */
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
      edited: "chunks that somebody has edited",
    },
    sql: documentStatistics,
  },
  status_timeline: {
    about:
      "the newest reading of every document of a batch: how long each stage took, and of what is not completed how old it is and for how long it was seen without a move",
    columns: {
      ...commentsOf("indexing_status", "dataset_id", "batch", "document_id"),
      ...documentName,
      ...commentsOf("indexing_status", "indexing_status", "completed_segments", "total_segments"),
      parsing: "time from the start of the processing to the end of the parsing",
      cleaning: "time from there to the end of the cleaning",
      splitting: "time from there to the end of the splitting",
      indexing: "time from there to the end of the indexing",
      took: "time from the start of the processing to its end",
      age: "time since the start of the processing; null when it is completed",
      unmoved: "time for which no reading saw a move; null when it is completed",
      ...commentsOf("indexing_status", "error", "captured_at"),
    },
    sql: statusTimeline,
  },
  coverage: {
    about:
      "every document: whether the last run read it well (fresh; stale, never read, unstable, not in the last run), when it was read well last, and what has failed since",
    columns: {
      ...commentsOf("documents", "dataset_id", "document_id"),
      ...documentName,
      state: "fresh, stale, never read, unstable, or not in the last run",
      good_run: "the run that read it well last",
      good_at: "when that run had read everything",
      age: "time since good_at",
      failures: "runs since then that could not read it well",
      failed_run: "the last of these runs",
      failed_as: "failed or unstable, as that run found it",
      reason: "why that run could not read it well",
    },
    sql: coverage,
  },
  duplicates: {
    about:
      "contents that stand in several chunks, the chunks, how many different answers they have, and the tokens that the copies cost",
    columns: {
      copies: "chunks with this content",
      documents: "documents with this content",
      answers: "different answers of these chunks",
      tokens: "tokens of all copies but one",
      content: "the content",
      ids: "the chunks, in the order of documents and positions",
    },
    sql: `SELECT count(*) AS copies, count(DISTINCT (dataset_id, document_id)) AS documents,
        count(DISTINCT coalesce(answer, '')) AS answers,
        (sum(tokens) - max(tokens))::BIGINT AS tokens, any_value(content) AS content, list(id ORDER BY document_id, position, id) AS ids
      FROM chunks WHERE content IS NOT NULL GROUP BY sha256(content) HAVING count(*) > 1`,
  },
  orphans: {
    about: "child chunks whose parent is not there",
    columns: { ...commentsOf("child_chunks"), ...documentName },
    sql: `SELECT k.dataset_id, k.document_id, i.document_name, k.* EXCLUDE (dataset_id, document_id) FROM child_chunks k
      ANTI JOIN chunks c ON k.dataset_id = c.dataset_id AND k.document_id = c.document_id AND k.segment_id = c.id
      LEFT JOIN ${documentNames} i ON k.dataset_id = i.dataset_id AND k.document_id = i.document_id`,
  },
};
