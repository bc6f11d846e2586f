import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/rows-of.js";
import type { DocumentLengths, LengthFacts, Lengths } from "../state-facts.js";
import { askRun, type FactSource, rowsOfRun } from "./fact-source.js";
import { documentFrom, readCut } from "./read-cut.js";
import { numberFrom } from "./values.js";

/** Gathers the lengths of chunks, of all and of each document. Chunks whose length nobody knows are left out. */
export async function gatherLengths(connection: Connection, source: FactSource): Promise<LengthFacts> {
  const [all] = await rowsOf(connection, `SELECT ${figuresOf("characters")} FROM chunks WHERE characters IS NOT NULL`);
  return {
    all: all && numberFrom(all.chunks) > 0 ? lengthsFrom(all) : undefined,
    documents: await readCut(connection, { ...documents, query: queryOf(source) }, documentLengths),
  };
}

/** SQL: the figures of some chunks; quartiles lie between two lengths where none is in the middle. */
function figuresOf(length: string): string {
  return `count(*) AS chunks, sum(${length})::BIGINT AS characters, sum(tokens)::BIGINT AS tokens, min(${length}) AS shortest,
    quantile_cont(${length}, 0.25) AS quartile_1, quantile_cont(${length}, 0.5) AS median,
    quantile_cont(${length}, 0.75) AS quartile_3, max(${length}) AS longest`;
}

const documents = {
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
