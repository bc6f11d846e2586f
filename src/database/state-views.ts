/** A view: what it answers, and how. */
export interface View {
  readonly about: string;
  readonly sql: string;
}

/** SQL: the time at which it is asked, UTC, as TIMESTAMP; needs no extension and no time zone. */
const utcNow = "make_timestamp(epoch_us(now()))";

/** SQL: the names of documents, as far as a run listed them. */
export const documentNames =
  "(SELECT dataset_id, document_id, any_value(name) AS document_name FROM document_info GROUP BY ALL)";

const documentStatistics = `
  SELECT d.dataset_id, d.document_id, i.name, d.doc_form, d.status, d.run_id, coalesce(c.chunks, 0) AS chunks,
    coalesce(k.child_chunks, 0) AS child_chunks, c.* EXCLUDE (dataset_id, document_id, chunks)
  FROM documents d
  LEFT JOIN (SELECT dataset_id, document_id, any_value(name) AS name FROM document_info GROUP BY ALL) i
    USING (dataset_id, document_id)
  LEFT JOIN (
    SELECT dataset_id, document_id, count(*) AS chunks, sum(word_count)::BIGINT AS characters, sum(tokens)::BIGINT AS tokens,
      min(word_count) AS shortest, quantile_cont(word_count, 0.25) AS quartile_1, quantile_cont(word_count, 0.5) AS median,
      quantile_cont(word_count, 0.75) AS quartile_3, max(word_count) AS longest, sum(hit_count)::BIGINT AS hits,
      round(count(*) FILTER (hit_count = 0) / count(*), 3) AS never_hit,
      count(*) FILTER (NOT enabled) AS disabled, count(*) FILTER (error IS NOT NULL OR status = 'error') AS errors,
      count(*) FILTER (updated_by IS NOT NULL) AS edited
    FROM chunks GROUP BY ALL
  ) c USING (dataset_id, document_id)
  LEFT JOIN (SELECT dataset_id, document_id, count(*) AS child_chunks FROM child_chunks GROUP BY ALL) k
    USING (dataset_id, document_id)`;

const statusTimeline = `
  SELECT n.dataset_id, n.batch, n.document_id, i.document_name, n.indexing_status, n.completed_segments, n.total_segments,
    n.parsing_completed_at - n.processing_started_at AS parsing, n.cleaning_completed_at - n.parsing_completed_at AS cleaning,
    n.splitting_completed_at - n.cleaning_completed_at AS splitting, n.completed_at - n.splitting_completed_at AS indexing,
    n.completed_at - n.processing_started_at AS took,
    CASE WHEN n.indexing_status <> 'completed' THEN ${utcNow} - n.processing_started_at END AS age,
    CASE WHEN n.indexing_status <> 'completed' THEN n.captured_at - coalesce(m.moved_at, n.first_at) END AS unmoved,
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
  SELECT r.dataset_id, r.document_id, i.name,
    CASE WHEN r.status = 'complete' AND r.run_id = last.run_id THEN 'fresh'
      WHEN greatest(r.run_id, r.failed_run) < last.run_id THEN 'not in the last run'
      WHEN r.status = 'complete' THEN 'stale' WHEN r.status IS NULL THEN 'never read' ELSE 'unstable' END AS state,
    CASE WHEN r.status = 'complete' THEN r.run_id END AS good_run, g.finished_at AS good_at,
    ${utcNow} - g.finished_at AS age, r.failures, CASE WHEN r.failures > 0 THEN r.failed_run END AS failed_run,
    CASE WHEN r.failures > 0 THEN r.failed_as END AS failed_as, CASE WHEN r.failures > 0 THEN r.reason END AS reason
  FROM read r CROSS JOIN last LEFT JOIN runs g ON r.status = 'complete' AND r.run_id = g.run_id
  LEFT JOIN (SELECT dataset_id, document_id, any_value(name) AS name FROM document_info GROUP BY ALL) i
    ON r.dataset_id = i.dataset_id AND r.document_id = i.document_id`;

/** The views on what is there now. */
export const stateViews: Readonly<Record<string, View>> = {
  document_statistics: {
    about:
      "every document: chunks, characters, tokens, the lengths of its chunks in characters, hits and the share that was never hit, how many are disabled, in error or edited",
    sql: documentStatistics,
  },
  status_timeline: {
    about:
      "the newest reading of every document of a batch: how long each stage took, and of what is not completed how old it is and for how long it was seen without a move",
    sql: statusTimeline,
  },
  coverage: {
    about:
      "every document: whether the last run read it well (fresh; stale, never read, unstable, not in the last run), when it was read well last, and what has failed since",
    sql: coverage,
  },
  duplicates: {
    about:
      "contents that stand in several chunks, the chunks, how many different answers they have, and the tokens that the copies cost",
    sql: `SELECT count(*) AS copies, count(DISTINCT (dataset_id, document_id)) AS documents,
        count(DISTINCT coalesce(answer, '')) AS answers,
        (sum(tokens) - max(tokens))::BIGINT AS tokens, any_value(content) AS content, list(id ORDER BY document_id, position, id) AS ids
      FROM chunks WHERE content IS NOT NULL GROUP BY sha256(content) HAVING count(*) > 1`,
  },
  orphans: {
    about: "child chunks whose parent is not there",
    sql: `SELECT k.dataset_id, k.document_id, i.document_name, k.* EXCLUDE (dataset_id, document_id) FROM child_chunks k
      ANTI JOIN chunks c ON k.dataset_id = c.dataset_id AND k.document_id = c.document_id AND k.segment_id = c.id
      LEFT JOIN ${documentNames} i ON k.dataset_id = i.dataset_id AND k.document_id = i.document_id`,
  },
};
