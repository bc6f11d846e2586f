import type { Connection } from "../../duckdb/open-duckdb.js";
import type { SqlRow } from "../../duckdb/rows-of.js";
import type { ChunkError, DisabledChunk, FlawFacts, OrphanedChild } from "../flaw-facts.js";
import { gatherDuplicates } from "./duplicates.js";
import { askRun, type FactSource, rowsOfRun } from "./fact-source.js";
import { placeFrom, readCut } from "./read-cut.js";
import { knownNumber, knownText } from "./values.js";

/** Gathers rows that deserve a look: duplicates, orphans, errors and disabled chunks, in the order of the dump. */
export async function gatherFlaws(connection: Connection, source: FactSource): Promise<FlawFacts> {
  const queries = queriesOf(source);
  await connection.run(`CREATE TEMP TABLE orphans AS ${withoutParent("child_chunks", "chunks")}`);
  return {
    ...(await gatherDuplicates(connection, source)),
    orphans: await readCut(connection, { ...orphans, query: queries.orphans }, orphanFrom),
    errors: await readCut(connection, { ...errors, query: queries.errors }, errorFrom),
    disabled: await readCut(connection, { ...disabled, query: queries.disabled }, (row) =>
      disabledFrom(row, source.content),
    ),
  };
}

/** SQL: child chunks without their parent. */
const withoutParent = (children: string, chunks: string) => `FROM ${children}
  ANTI JOIN (SELECT dataset_id, document_id, id AS segment_id FROM ${chunks}) USING (dataset_id, document_id, segment_id)`;

const orphans = { select: "FROM orphans", order: "row" };
const errors = {
  select: `SELECT dataset_id, document_id, id, position, status, error, row FROM chunks WHERE has_error OR status = 'error'`,
  order: "row",
};
const disabled = {
  select: `SELECT dataset_id, document_id, id, position, epoch_ms(disabled_at) AS disabled_at, disabled_by, beginning, row
    FROM chunks WHERE NOT enabled`,
  order: "disabled_at DESC NULLS LAST, row",
};

/** The commands that print all rows of these tables. */
function queriesOf(source: FactSource): Readonly<Record<"orphans" | "errors" | "disabled", string>> {
  const [chunks, children] = [rowsOfRun(source, "chunks"), rowsOfRun(source, "child_chunks")];
  const ask = (statement: string) => askRun(source, statement);
  return {
    orphans: ask(withoutParent(children, chunks)),
    errors: ask(
      `SELECT document_id, position, id, status, error FROM ${chunks} WHERE error IS NOT NULL OR status = 'error'`,
    ),
    disabled: ask(
      `SELECT document_id, position, id, disabled_at, disabled_by, content FROM ${chunks} WHERE NOT enabled ORDER BY disabled_at DESC`,
    ),
  };
}

function orphanFrom(row: SqlRow): OrphanedChild {
  return { ...placeFrom(row), segment_id: String(row.segment_id), beginning: knownText(row.beginning) };
}

function errorFrom(row: SqlRow): ChunkError {
  return { ...placeFrom(row), status: knownText(row.status), error: knownText(row.error) };
}

function disabledFrom(row: SqlRow, content: boolean): DisabledChunk {
  return {
    ...placeFrom(row),
    disabled_at: knownNumber(row.disabled_at),
    disabled_by: content ? knownText(row.disabled_by) : null,
    beginning: knownText(row.beginning),
  };
}
