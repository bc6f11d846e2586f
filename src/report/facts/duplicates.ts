import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/rows-of.js";
import type { DuplicateGroup, FlawFacts } from "../flaw-facts.js";
import { askRun, type FactSource, rowsOfRun } from "./fact-source.js";
import { isNotBlank } from "./load-tables.js";
import { placeFrom, readCut } from "./read-cut.js";
import { knownText, numberFrom } from "./values.js";

/** Gathers contents that stand in several chunks. Contents are the same if 128 bits of their MD5 are; blank ones do not count. */
export async function gatherDuplicates(
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
