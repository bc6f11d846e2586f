import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import type { Manifest } from "../../dump/manifest.js";
import type { DocumentFreshness, FreshnessFacts, ReadState } from "../report-facts.js";
import { askDatabase, askRun, documentFrom, type FactSource, knownNumber, numberFrom, readCut } from "./fact-source.js";

/** The states, those first that need a look. */
const states = ["never read", "unstable", "stale", "fresh", "not in this run"] as const satisfies readonly ReadState[];

/** Spans of time that documents are counted in, at the most. */
const mostSpans = 48;

/** Gathers how old the newest change of every document is, and when it was read whole. Makes the table `freshness`. */
export async function gatherFreshness(
  connection: Connection,
  source: FactSource,
  { finished_at }: Pick<Manifest, "finished_at">,
): Promise<FreshnessFacts> {
  const as_of = Date.parse(finished_at);
  await loadEarlierReads(connection, source, source.content);
  await connection.run(`CREATE TEMP TABLE freshness AS ${freshness(as_of)}`);
  const counts = await countStates(connection);
  const query = queryOf(source, counts["not in this run"] > 0);
  return {
    as_of,
    states: counts,
    spans: await readSpans(connection),
    documents: await readCut(connection, { ...documents, query }, freshnessFrom),
    has_history: source.hasHistory,
  };
}

/** SQL: a row for each document, of the run or of an earlier one; times in milliseconds since 1970. */
function freshness(as_of: number): string {
  return `SELECT d.nr, dataset_id, document_id, coalesce(d.document_name, e.document_name) AS document_name, s.dataset_name,
      CASE WHEN d.nr IS NULL THEN 'not in this run' WHEN d.status = 'complete' THEN 'fresh' WHEN e.read_whole THEN 'stale'
        WHEN d.status = 'unstable' OR e.was_unstable THEN 'unstable' ELSE 'never read' END AS state,
      CASE WHEN d.status = 'complete' THEN ${as_of} ELSE epoch_ms(e.read_well_at) END AS read_well_at,
      epoch_ms(c.changed_at) AS changed_at, coalesce(d.chunk_count, 0) AS chunks
    FROM documents d FULL JOIN earlier_reads e USING (dataset_id, document_id)
    LEFT JOIN (
      SELECT dataset_id, document_id, max(changed_at) AS changed_at FROM (
        SELECT dataset_id, document_id, changed_at FROM chunks
        UNION ALL SELECT dataset_id, document_id, changed_at FROM child_chunks
      ) GROUP BY dataset_id, document_id
    ) c USING (dataset_id, document_id)
    LEFT JOIN (SELECT dataset_id, any_value(dataset_name) AS dataset_name FROM documents GROUP BY dataset_id) s USING (dataset_id)`;
}

const documents = {
  select: "SELECT * EXCLUDE (dataset_name, document_name) FROM freshness",
  order: `list_position([${states.map(sqlText).join(", ")}], state), changed_at NULLS LAST, nr, dataset_id, document_id`,
  names: "freshness",
};

/** The documents of the run and their changes; the database alone knows those of earlier runs. */
function queryOf(source: FactSource, isOfEarlier: boolean): string {
  if (isOfEarlier || !source.run)
    return askDatabase(
      source,
      "SELECT dataset_id, document_id, document_name, state, good_at FROM coverage ORDER BY good_at",
    );
  const times = "SELECT dataset_id, document_id, created_at, updated_at FROM";
  return askRun(
    source,
    `SELECT dataset_id, document_id, d.status, max(greatest(r.created_at, r.updated_at)) AS changed_at
    FROM documents d LEFT JOIN (${times} chunks UNION ALL ${times} child_chunks) r USING (dataset_id, document_id)
    GROUP BY ALL ORDER BY changed_at`,
  );
}

async function countStates(connection: Connection): Promise<FreshnessFacts["states"]> {
  const rows = await rowsOf(connection, "SELECT state, count(*) AS documents FROM freshness GROUP BY state");
  return statesFrom(rows);
}

/** Counts documents in spans of the same length, of which the last may be shorter. */
async function readSpans(connection: Connection): Promise<FreshnessFacts["spans"]> {
  const known = "FROM freshness WHERE changed_at IS NOT NULL";
  const [ends] = await rowsOf(connection, `SELECT min(changed_at) AS oldest, max(changed_at) AS newest ${known}`);
  if (ends?.oldest == null) return [];
  const [oldest, newest] = [numberFrom(ends.oldest), numberFrom(ends.newest)];
  const length = Math.max(1, Math.ceil((newest - oldest + 1) / mostSpans));
  const counted = await rowsOf(
    connection,
    `SELECT (changed_at - ${oldest}) // ${length} AS span, state, count(*) AS documents ${known} GROUP BY ALL`,
  );
  return Array.from({ length: Math.ceil((newest - oldest + 1) / length) }, (_, span) => {
    const from = oldest + span * length;
    return {
      from,
      to: Math.min(from + length, newest + 1),
      documents: statesFrom(counted.filter((row) => numberFrom(row.span) === span)),
    };
  });
}

function statesFrom(rows: readonly SqlRow[]): FreshnessFacts["states"] {
  const count = (state: ReadState) => numberFrom(rows.find((row) => row.state === state)?.documents);
  return {
    fresh: count("fresh"),
    stale: count("stale"),
    unstable: count("unstable"),
    "never read": count("never read"),
    "not in this run": count("not in this run"),
  };
}

function freshnessFrom(row: SqlRow): DocumentFreshness {
  return {
    ...documentFrom(row),
    state: states.find((state) => state === row.state) ?? "never read",
    read_well_at: knownNumber(row.read_well_at),
    changed_at: knownNumber(row.changed_at),
    chunks: numberFrom(row.chunks),
  };
}

/**
 * Makes the table `earlier_reads`: documents that this run did not read whole, or not at all, and that earlier runs know. `read_whole`:
 * whether a run did; `read_well_at`: the end of the last one; `was_unstable`: whether one moved while it was read. Later runs change
 * nothing of it: it goes by what is never replaced in the database where a later run has read the document again.
 */
async function loadEarlierReads(
  connection: Connection,
  { hasHistory, run_id }: Pick<FactSource, "hasHistory" | "run_id">,
  content: boolean,
): Promise<void> {
  const run = sqlText(run_id);
  const sql = hasHistory ? [later(run), held(run), earlierReads(run, content)] : [noEarlierReads];
  await connection.run(sql.join(";\n"));
}

const noEarlierReads = `CREATE TEMP TABLE earlier_reads (dataset_id VARCHAR, document_id VARCHAR, document_name VARCHAR,
  read_whole BOOLEAN, read_well_at TIMESTAMP, was_unstable BOOLEAN)`;

const wellRead = "(FROM documents WHERE status = 'complete')";

/** SQL: makes the table `read_later`, of documents whose newest good read is of a later run. */
function later(run: string): string {
  return `CREATE TEMP TABLE read_later AS SELECT dataset_id, document_id FROM job.main.documents
    ANTI JOIN ${wellRead} USING (dataset_id, document_id) WHERE run_id > ${run}`;
}

/** SQL: makes the table `held`, of those documents that had chunks before the later runs: not all of these came with them. */
function held(run: string): string {
  const changes = `FROM job.main.chunk_changes SEMI JOIN read_later USING (dataset_id, document_id) WHERE run_id > ${run}`;
  return `CREATE TEMP TABLE held AS
    SELECT dataset_id, document_id FROM (
      SELECT dataset_id, document_id ${changes} GROUP BY dataset_id, document_id, lineage HAVING arg_min(change, run_id) <> 'added'
    )
    UNION
    SELECT dataset_id, document_id FROM job.main.chunks SEMI JOIN read_later USING (dataset_id, document_id)
      ANTI JOIN (SELECT dataset_id, document_id, coalesce(new_id, id) AS id ${changes}) USING (dataset_id, document_id, id)`;
}

function earlierReads(run: string, content: boolean): string {
  return `CREATE TEMP TABLE earlier_reads AS
    WITH vanished AS (
      SELECT dataset_id, document_id, max(run_id) AS run_id, arg_max(name, run_id) AS document_name FROM job.main.document_changes
      WHERE change = 'vanished' AND run_id <= ${run} GROUP BY dataset_id, document_id
    ), failed AS (
      SELECT dataset_id, document_id, bool_or(status = 'unstable') AS was_unstable, list(run_id) AS runs FROM job.main.failed_reads
      WHERE run_id <= ${run} GROUP BY dataset_id, document_id
    ), good AS (
      SELECT dataset_id, document_id, CASE WHEN status = 'complete' THEN run_id END AS good_run FROM job.main.documents
      ANTI JOIN ${wellRead} USING (dataset_id, document_id) WHERE run_id <= ${run}
      UNION ALL
      SELECT h.dataset_id, h.document_id, max(r.run_id) FROM held h
      LEFT JOIN vanished v USING (dataset_id, document_id) LEFT JOIN failed f USING (dataset_id, document_id)
      LEFT JOIN job.main.runs r ON r.run_id < coalesce(v.run_id, ${run}) AND NOT coalesce(list_contains(f.runs, r.run_id), false)
      GROUP BY h.dataset_id, h.document_id
    )
    SELECT dataset_id, document_id, ${content ? "v.document_name" : "NULL::VARCHAR"} AS document_name,
      good_run IS NOT NULL AS read_whole, make_timestamp(epoch_us(r.finished_at)) AS read_well_at,
      coalesce(was_unstable, false) AS was_unstable
    FROM good FULL JOIN failed USING (dataset_id, document_id) LEFT JOIN vanished v USING (dataset_id, document_id)
    LEFT JOIN job.main.runs r ON r.run_id = good_run
    ANTI JOIN ${wellRead} USING (dataset_id, document_id)`;
}
