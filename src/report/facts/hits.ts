import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import {
  type DocumentHits,
  type DocumentLengths,
  type HitFacts,
  type LengthFacts,
  type Lengths,
  type NeverHitChunk,
  positionsOfDocument,
} from "../report-facts.js";
import {
  askDatabase,
  askRun,
  documentFrom,
  type FactSource,
  knownNumber,
  knownText,
  numberFrom,
  placeFrom,
  readCut,
  rowsOfRun,
} from "./fact-source.js";

/**
 * Gathers which chunks were never retrieved. A re-index sets the count of a chunk to 0: it was hit all the same if the history knows
 * hits of the chunk from before. Makes the tables `hit_before` and `retrievable`.
 */
export async function gatherHits(connection: Connection, source: FactSource): Promise<HitFacts> {
  await connection.run(`CREATE TEMP TABLE hit_before AS ${hitBefore(source)}`);
  await connection.run(`CREATE TEMP TABLE retrievable AS ${retrievable}`);
  const [sums] = await rowsOf(
    connection,
    `SELECT count(*) AS enabled, count(*) FILTER (never) AS never, sum(hit_count) AS hits,
      count(*) FILTER (hit_count = 0 AND NOT never) AS before, EXISTS (FROM documents WHERE status = 'unstable') AS moved
    FROM retrievable`,
  );
  const place = numberFrom(sums?.before) === 0 ? "run" : sums?.moved === true ? "nowhere" : "database";
  return {
    enabled: numberFrom(sums?.enabled),
    never: numberFrom(sums?.never),
    hits: numberFrom(sums?.hits),
    has_history: source.hasHistory,
    documents: await readCut(connection, { ...documents, query: documentsQuery(source) }, documentHits),
    chunks: await readCut(connection, { ...neverHit, query: neverHitQuery(source, place) }, neverHitChunk),
  };
}

/** SQL: chunks, by the ids that they have in this run, that were hit at an earlier run. */
function hitBefore({ hasHistory, run_id }: FactSource): string {
  if (!hasHistory) return "SELECT dataset_id, document_id, id FROM chunks LIMIT 0";
  return `SELECT DISTINCT dataset_id, document_id, id FROM (
      SELECT any_value(dataset_id) AS dataset_id, any_value(document_id) AS document_id, arg_max(coalesce(new_id, id), run_id) AS id
      FROM job.main.chunk_changes WHERE run_id <= ${sqlText(run_id)} GROUP BY lineage HAVING max(hit_count) > 0
    )`;
}

/** SQL: chunks that can be retrieved and whose count the service reports, with the part of the document in which each stands. */
const retrievable = `
  SELECT row, dataset_id, document_id, place, hit_count, hit_count = 0 AND before.id IS NULL AS never
  FROM (
    SELECT row, dataset_id, document_id, id, hit_count, enabled,
      (row_number() OVER (PARTITION BY dataset_id, document_id ORDER BY position, row) - 1) * ${positionsOfDocument}
        // count(*) OVER (PARTITION BY dataset_id, document_id) AS place
    FROM chunks
  ) LEFT JOIN hit_before before USING (dataset_id, document_id, id)
  WHERE enabled AND hit_count IS NOT NULL`;

const places = Array.from({ length: positionsOfDocument }, (_, place) => place);

/** SQL: documents with such chunks, and the counts of each of their parts. */
const documents = {
  select: `SELECT dataset_id, document_id, count(*) AS enabled, count(*) FILTER (never) AS never, sum(hit_count) AS hits,
      ${places.map((place) => `count(*) FILTER (place = ${place}) AS enabled_${place}`).join(", ")},
      ${places.map((place) => `count(*) FILTER (place = ${place} AND never) AS never_${place}`).join(", ")}
    FROM retrievable GROUP BY dataset_id, document_id`,
  order: "never DESC, enabled, dataset_id, document_id",
};

function documentHits(row: SqlRow): DocumentHits {
  return {
    ...documentFrom(row),
    enabled: numberFrom(row.enabled),
    never: numberFrom(row.never),
    hits: numberFrom(row.hits),
    places: places.map((place) => ({
      enabled: numberFrom(row[`enabled_${place}`]),
      never: numberFrom(row[`never_${place}`]),
    })),
  };
}

/** The command counts by this run alone, whose files know of no hits before a re-index. */
function documentsQuery(source: FactSource): string {
  return askRun(
    source,
    `SELECT document_id, count(*) AS enabled, count(*) FILTER (hit_count = 0) AS without_hits, sum(hit_count) AS hits
    FROM ${rowsOfRun(source, "chunks")} WHERE enabled AND hit_count IS NOT NULL GROUP BY dataset_id, document_id ORDER BY without_hits DESC`,
  );
}

const neverHit = {
  select: `SELECT dataset_id, document_id, id, position, characters, epoch_ms(created_at) AS created_at, beginning, row
    FROM chunks SEMI JOIN (FROM retrievable WHERE never) USING (row)`,
  order: "characters DESC NULLS LAST, row",
};

/**
 * The command asks the run if its counts tell all, else the database as it was at this run. That passes over documents which moved
 * while they were read: where there is one, no command prints these chunks.
 */
function neverHitQuery(source: FactSource, place: "run" | "database" | "nowhere"): string | null {
  const columns = "document_id, position, id, word_count, content";
  const from = (rows: string) => `SELECT ${columns} FROM ${rows} WHERE enabled AND hit_count = 0`;
  if (place === "nowhere") return null;
  if (place === "run") return askRun(source, `${from(rowsOfRun(source, "chunks"))} ORDER BY word_count DESC`);
  const run = sqlText(source.run_id);
  return askDatabase(
    source,
    `${from(`chunks_at(${run})`)} AND document_id IN (SELECT document_id FROM documents WHERE run_id >= ${run}
        EXCEPT SELECT document_id FROM failed_reads WHERE run_id = ${run})
      AND id NOT IN (SELECT arg_max(coalesce(new_id, id), run_id) FROM chunk_changes WHERE run_id <= ${run}
        GROUP BY lineage HAVING max(hit_count) > 0) ORDER BY word_count DESC`,
  );
}

function neverHitChunk(row: SqlRow): NeverHitChunk {
  return {
    ...placeFrom(row),
    characters: numberFrom(row.characters),
    created_at: knownNumber(row.created_at),
    beginning: knownText(row.beginning),
  };
}

/** Gathers the lengths of chunks, of all and of each document. Chunks of unknown length are left out. */
export async function gatherLengths(connection: Connection, source: FactSource): Promise<LengthFacts> {
  const [all] = await rowsOf(connection, `SELECT ${figuresOf("characters")} FROM chunks WHERE characters IS NOT NULL`);
  return {
    all: all && numberFrom(all.chunks) > 0 ? lengthsFrom(all) : undefined,
    documents: await readCut(connection, { ...lengthsOfDocuments, query: queryOf(source) }, documentLengths),
  };
}

/** SQL: the figures of some chunks; quartiles lie between two lengths where none is in the middle. */
function figuresOf(length: string): string {
  return `count(*) AS chunks, sum(${length})::BIGINT AS characters, sum(tokens)::BIGINT AS tokens, min(${length}) AS shortest,
    quantile_cont(${length}, 0.25) AS quartile_1, quantile_cont(${length}, 0.5) AS median,
    quantile_cont(${length}, 0.75) AS quartile_3, max(${length}) AS longest`;
}

const lengthsOfDocuments = {
  select: `SELECT dataset_id, document_id, ${figuresOf("characters")} FROM chunks WHERE characters IS NOT NULL
    GROUP BY dataset_id, document_id`,
  order: "chunks DESC, dataset_id, document_id",
};

function queryOf(source: FactSource): string {
  const lengths = `SELECT *, coalesce(word_count, length(content)) AS length FROM ${rowsOfRun(source, "chunks")}`;
  return askRun(
    source,
    `SELECT dataset_id, document_id, count(*) AS chunks, sum(length) AS characters, min(length) AS shortest, median(length) AS median, max(length) AS longest
    FROM (${lengths}) WHERE length IS NOT NULL GROUP BY dataset_id, document_id ORDER BY chunks DESC`,
  );
}

function documentLengths(row: SqlRow): DocumentLengths {
  return { ...documentFrom(row), ...lengthsFrom(row) };
}

function lengthsFrom(row: SqlRow): Lengths {
  return {
    chunks: numberFrom(row.chunks),
    characters: numberFrom(row.characters),
    tokens: numberFrom(row.tokens),
    shortest: numberFrom(row.shortest),
    quartile_1: numberFrom(row.quartile_1),
    median: numberFrom(row.median),
    quartile_3: numberFrom(row.quartile_3),
    longest: numberFrom(row.longest),
  };
}
