import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import type { Manifest } from "../../dump/manifest.js";
import { mostRows } from "../lost-facts.js";
import type { DocumentIndexing, IndexingFacts, ListedDocument } from "../report-facts.js";
import {
  askDatabase,
  askRun,
  documentFrom,
  type FactSource,
  knownNumber,
  knownText,
  numberFrom,
  readCut,
  rowsOfRun,
} from "./fact-source.js";

/** Gathers how far the indexing is, of the documents of batches and of all others. Makes the table `readings`. */
export async function gatherIndexing(
  connection: Connection,
  source: FactSource,
  manifest: Manifest,
): Promise<IndexingFacts> {
  await connection.run(`CREATE TEMP TABLE readings AS ${readings}`);
  const states = await rowsOf(
    connection,
    `SELECT indexing_status AS status, count(*) AS documents FROM readings GROUP BY status
    ORDER BY documents DESC, status LIMIT ${mostRows}`,
  );
  const statuses = await rowsOf(
    connection,
    `SELECT status, count(*) AS chunks, count(DISTINCT (dataset_id, document_id)) AS documents FROM chunks
    WHERE status <> 'completed' GROUP BY status ORDER BY chunks DESC, status LIMIT ${mostRows}`,
  );
  const named = new Set(namedBatches(manifest.options));
  const read = await rowsOf(connection, "SELECT DISTINCT dataset_id, batch FROM readings");
  const readBatches = new Set(read.map(({ dataset_id, batch }) => batchKey(dataset_id, batch)));
  return {
    was_asked: states.length > 0 || named.size > 0,
    unread_batches: [...named].filter((batch) => !readBatches.has(batch)).length,
    states: states.map(({ status, documents }) => ({ status: String(status), documents: numberFrom(documents) })),
    documents: await readCut(connection, { ...documents, query: readingsQuery(source, manifest) }, indexingFrom),
    listed: await readCut(connection, { ...listed, query: listedQuery(source, manifest) }, listedFrom),
    chunks: statuses.map((row) => ({
      status: String(row.status),
      chunks: numberFrom(row.chunks),
      documents: numberFrom(row.documents),
    })),
  };
}

/** The batches that a job names, as keys; a manifest may be of any version. */
function namedBatches({ datasets }: Manifest["options"]): readonly string[] {
  return (Array.isArray(datasets) ? datasets : []).flatMap((dataset: unknown) => {
    if (typeof dataset !== "object" || dataset === null) return [];
    const { id, batches }: { id?: unknown; batches?: unknown } = dataset;
    return Array.isArray(batches) ? batches.map((batch: unknown) => batchKey(id, batch)) : [];
  });
}

function batchKey(dataset: unknown, batch: unknown): string {
  return JSON.stringify([dataset, batch]);
}

/**
 * SQL: the newest reading of every document of a batch, with the time since the reading at which it moved last, or since the first one;
 * null where there is one reading, or it is completed.
 */
const readings = `
  SELECT * EXCLUDE (indexing_status, was, had, place), coalesce(indexing_status, 'unknown') AS indexing_status,
    CASE WHEN place > 1 AND indexing_status IS DISTINCT FROM 'completed' THEN epoch_ms(captured_at) - epoch_ms(moved_at) END AS unmoved
  FROM (
    SELECT *, max(captured_at) FILTER (place = 1 OR was IS DISTINCT FROM indexing_status OR had IS DISTINCT FROM completed_segments)
      OVER (PARTITION BY dataset_id, batch, document_id) AS moved_at
    FROM (
      SELECT *, lag(indexing_status) OVER before AS was, lag(completed_segments) OVER before AS had, row_number() OVER before AS place
      FROM indexing_status
      WINDOW before AS (PARTITION BY dataset_id, batch, document_id ORDER BY captured_at)
    )
  )
  QUALIFY row_number() OVER (PARTITION BY dataset_id, batch, document_id ORDER BY captured_at DESC) = 1`;

/** The times of a reading, by the name that they have in the facts. */
const times = {
  started_at: "processing_started_at",
  parsed_at: "parsing_completed_at",
  cleaned_at: "cleaning_completed_at",
  split_at: "splitting_completed_at",
  completed_at: "completed_at",
  paused_at: "paused_at",
  stopped_at: "stopped_at",
  captured_at: "captured_at",
} as const;

const documents = {
  select: `SELECT dataset_id, document_id, batch, indexing_status, unmoved, completed_segments, total_segments, error,
    ${Object.entries(times)
      .map(([name, column]) => `epoch_ms(${column}) AS ${name}`)
      .join(", ")} FROM readings`,
  order: `indexing_status = 'completed', CASE WHEN indexing_status <> 'completed' THEN started_at END NULLS LAST,
    completed_at DESC NULLS LAST, dataset_id, document_id, batch`,
};

function readingsQuery(source: FactSource, { started_at, finished_at }: Manifest): string {
  const newest = (more: string) =>
    `SELECT dataset_id, batch, document_id, indexing_status, processing_started_at, completed_segments, total_segments, error
    FROM indexing_status ${more} QUALIFY row_number() OVER (PARTITION BY dataset_id, batch, document_id ORDER BY captured_at DESC) = 1
    ORDER BY indexing_status = 'completed', processing_started_at`;
  if (source.run) return askRun(source, newest(""));
  return askDatabase(source, newest(`WHERE captured_at BETWEEN ${sqlText(started_at)} AND ${sqlText(finished_at)}`));
}

function indexingFrom(row: SqlRow): DocumentIndexing {
  return {
    ...documentFrom(row),
    batch: String(row.batch),
    indexing_status: String(row.indexing_status),
    started_at: knownNumber(row.started_at),
    parsed_at: knownNumber(row.parsed_at),
    cleaned_at: knownNumber(row.cleaned_at),
    split_at: knownNumber(row.split_at),
    completed_at: knownNumber(row.completed_at),
    paused_at: knownNumber(row.paused_at),
    stopped_at: knownNumber(row.stopped_at),
    captured_at: numberFrom(row.captured_at),
    unmoved: knownNumber(row.unmoved),
    completed_segments: knownNumber(row.completed_segments),
    total_segments: knownNumber(row.total_segments),
    error: knownText(row.error),
  };
}

/** A state that the service does not tell is no reason to look. */
const isNotReady =
  "coalesce(indexing_status, 'completed') <> 'completed' OR coalesce(display_status, 'available') <> 'available'";

const listed = {
  select: `SELECT dataset_id, document_id, indexing_status, display_status, coalesce(d.chunk_count, 0) AS chunks
    FROM document_info LEFT JOIN (SELECT dataset_id, document_id, any_value(chunk_count) AS chunk_count FROM documents GROUP BY ALL) d
    USING (dataset_id, document_id) WHERE ${isNotReady}`,
  order: "coalesce(indexing_status, 'completed') = 'completed', display_status, dataset_id, document_id",
};

/** There is none where the list of documents was not read. */
function listedQuery(source: FactSource, { counts }: Manifest): string | null {
  if (counts.document_info === undefined) return null;
  return askRun(
    source,
    `SELECT dataset_id, document_id, name, indexing_status, display_status FROM ${rowsOfRun(source, "document_info")}
    WHERE ${isNotReady} ORDER BY indexing_status, display_status`,
  );
}

function listedFrom(row: SqlRow): ListedDocument {
  return {
    ...documentFrom(row),
    indexing_status: knownText(row.indexing_status),
    display_status: knownText(row.display_status),
    chunks: numberFrom(row.chunks),
  };
}
