import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/rows-of.js";
import { type Cut, mostRows } from "../cut.js";
import type { ChunkPlace, NamedDocument } from "../named-document.js";
import { knownNumber, knownText, numberFrom } from "./values.js";

/** The rows of a table of the report. */
interface CutRows {
  /** SQL: all of the rows, with dataset_id and document_id. */
  readonly select: string;
  /** SQL: their order, which no two of them share. */
  readonly order: string;
  readonly query: string | null;
  /** A table with the names of documents; `documents` unless another is given. */
  readonly names?: string;
}

/** Counts rows, and reads the first of them with the names of their documents. */
export async function readCut<Row>(
  connection: Connection,
  { select, order, query, names = "documents" }: CutRows,
  rowFrom: (row: SqlRow) => Row,
): Promise<Cut<Row>> {
  const [counted] = await rowsOf(connection, `SELECT count(*) AS total FROM (${select})`);
  const first = await rowsOf(
    connection,
    `FROM (FROM (${select}) ORDER BY ${order} LIMIT ${mostRows})
    LEFT JOIN (SELECT dataset_id, document_id, dataset_name, document_name FROM ${names}) USING (dataset_id, document_id)
    ORDER BY ${order}`,
  );
  return { rows: first.map(rowFrom), total: numberFrom(counted?.total), query };
}

export function documentFrom(row: SqlRow): NamedDocument {
  return {
    dataset_id: String(row.dataset_id),
    document_id: String(row.document_id),
    dataset_name: knownText(row.dataset_name),
    document_name: knownText(row.document_name),
  };
}

export function placeFrom(row: SqlRow): ChunkPlace {
  return { ...documentFrom(row), id: String(row.id), position: knownNumber(row.position) };
}
