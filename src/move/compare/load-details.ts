import type { Connection } from "../../duckdb/open-duckdb.js";
import { sqlText } from "../../duckdb/sql-text.js";
import type { Dump } from "../../dump/open-dump.js";
import type { DocumentId } from "../../restore/document-rows.js";
import { ofDocument } from "../../restore/load-document-rows.js";
import { parseJson } from "../../rows/exact-json.js";
import type { Row } from "../../rows/row.js";
import { isMapping } from "../../schema.js";
import { type DatasetDetails, type DocumentDetails, datasetDetailsFrom, documentDetailsFrom } from "./details.js";

/** Reads the settings in a dump; undefined for what the dump does not have. */
export interface ReadDetails {
  readonly dataset: (datasetId: string) => Promise<DatasetDetails | undefined>;
  readonly document: (document: DocumentId) => Promise<DocumentDetails | undefined>;
}

const nothing: ReadDetails = { dataset: async () => undefined, document: async () => undefined };

const keys = ["dataset_id", "dataset_id, document_id"];

/**
 * Loads the settings of a dump into tables whose names begin with `name`, and reads them one at a time. The dump of a job without
 * `details` has none. StopError when a file is not as its run wrote it.
 */
export async function loadDetails(connection: Connection, name: string, dump: Dump): Promise<ReadDetails> {
  const files = dump.tablesOf(["datasets", "document_details"]);
  if (files === undefined) return nothing;
  for (const [at, listed] of files.entries()) {
    const file = await dump.check(listed);
    const rows = `FROM (${await dump.select(file, "JSON")}) AS r`;
    await connection
      .run(`CREATE TABLE ${name}_${file.kind} AS SELECT ${keys[at]}, to_json(r)::VARCHAR AS json ${rows}`)
      .catch((error: unknown) => {
        throw dump.unreadable(file, error);
      });
  }
  return {
    dataset: async (id) =>
      readRow(connection, `${name}_datasets WHERE dataset_id = ${sqlText(id)}`, datasetDetailsFrom),
    document: async (document) =>
      readRow(connection, `${name}_document_details WHERE ${ofDocument(document)}`, documentDetailsFrom),
  };
}

async function readRow<T>(connection: Connection, place: string, from: (row: Row) => T): Promise<T | undefined> {
  const found = await connection.runAndReadAll(`SELECT json FROM ${place}`);
  const row = found.getRowsJson().map(([text]) => parseJson(String(text)))[0];
  return isMapping(row) ? from(row) : undefined;
}
