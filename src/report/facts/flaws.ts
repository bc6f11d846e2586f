import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/read-rows.js";
import type { ChunkError, DisabledChunk, DuplicateGroup, FlawFacts, OrphanedChild } from "../report-facts.js";
import {
  askRun,
  type FactSource,
  knownNumber,
  knownText,
  numberFrom,
  placeFrom,
  readCut,
  rowsOfRun,
} from "./fact-source.js";
import { isNotBlank } from "./load-tables.js";

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

/** Gathers contents that stand in several chunks. Contents are the same if 128 bits of their MD5 are; blank ones do not count. */
async function gatherDuplicates(
  connection: Connection,
  source: FactSource,
): Promise<Pick<FlawFacts, "duplicates" | "copies">> {
  await connection.run(`CREATE TEMP TABLE duplicates AS ${duplicates}`);
  const [sums] = await rowsOf(
    connection,
    "SELECT sum(copies - 1) AS chunks, sum(characters) AS characters FROM duplicates",
  );
  return {
    duplicates: await readCut(connection, { ...groups, query: queryOf(source) }, groupFrom),
    copies: { chunks: numberFrom(sums?.chunks), characters: numberFrom(sums?.characters) },
  };
}

/** SQL: a row for each such content, with the first chunk that has it and what its copies cost. */
const duplicates = `
  WITH copied AS (
    SELECT content_hash, count(*) AS copies, sum(characters) - max(characters) AS characters, min(row) AS row
    FROM chunks WHERE content_hash IS NOT NULL GROUP BY content_hash HAVING count(*) > 1
  )
  FROM copied JOIN (
    SELECT content_hash, count(DISTINCT (dataset_id, document_id)) AS documents,
      count(DISTINCT coalesce(answer_hash, md5_number(''))) AS answers
    FROM chunks SEMI JOIN copied USING (content_hash) GROUP BY content_hash
  ) USING (content_hash)`;

const groups = {
  select: `SELECT d.*, c.dataset_id, c.document_id, c.id, c.position, c.beginning FROM duplicates d JOIN chunks c USING (row)`,
  order: "characters DESC NULLS LAST, copies DESC, row",
};

function groupFrom(row: SqlRow): DuplicateGroup {
  return {
    copies: numberFrom(row.copies),
    documents: numberFrom(row.documents),
    answers: numberFrom(row.answers),
    characters: numberFrom(row.characters),
    first: placeFrom(row),
    beginning: knownText(row.beginning),
  };
}

function queryOf(source: FactSource): string {
  return askRun(
    source,
    `SELECT count(*) AS copies, any_value(content) AS content, list(id) AS ids FROM ${rowsOfRun(source, "chunks")}
    WHERE ${isNotBlank} GROUP BY sha256(content) HAVING count(*) > 1 ORDER BY copies DESC`,
  );
}
