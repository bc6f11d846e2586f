import { loadAdditions, loadEdits } from "../../../src/compare/history.js";
import type { Row } from "../../../src/rows/row.js";
import { quoted, read } from "../../database/query.js";
import type { DocumentHistory, FirstValues } from "./planned.js";

interface ReadRows {
  readonly chunks: readonly Row[];
  readonly children?: readonly Row[];
}

/**
 * Returns what the database knows about earlier values in these documents, for a run that read these rows; and a warning if it knows
 * nothing.
 */
export function historiesAt(
  database: string,
  run_id: string,
  { chunks, children = [] }: ReadRows,
  documents: readonly string[],
): Promise<{ readonly histories: readonly DocumentHistory[]; readonly warning: string | undefined }> {
  return read(undefined, async (connection) => {
    const types = `[{"dataset_id": "VARCHAR", "document_id": "VARCHAR", "id": "VARCHAR", "status": "VARCHAR", "created_at": "TIMESTAMP WITH TIME ZONE"}]`;
    await connection.run(
      `CREATE TABLE old_chunks AS SELECT unnest(from_json(${quoted(JSON.stringify(chunks))}::JSON, '${types}'), recursive := true)`,
    );
    const { signal } = new AbortController();
    const warning = await loadEdits(connection, { database, run_id }, signal);
    await loadAdditions(connection, { database, run_id }, signal);
    const held = new Set([...chunks, ...children].map(({ id }) => id));
    const rowsOf = async (table: string, document: string) => {
      const sql = `SELECT to_json(t)::VARCHAR FROM ${table} t WHERE document_id = '${document}'`;
      const rows = (await connection.runAndReadAll(sql)).getRowsJson().map(([json]) => JSON.parse(String(json)));
      return rows.filter(({ id }) => held.has(id));
    };
    const histories: DocumentHistory[] = [];
    for (const document of documents) {
      histories.push({
        chunks: new Map((await rowsOf("edited_chunks", document)).map((row) => [row.id, firstValues(row)])),
        children: new Map((await rowsOf("edited_child_chunks", document)).map((row) => [row.id, row.content])),
        added: new Set((await rowsOf("added_chunks", document)).map((row) => row.id)),
      });
    }
    return { histories, warning };
  });
}

/** The first values of the columns that `had` names. */
function firstValues(row: FirstValues & { readonly had: readonly (keyof FirstValues)[] }): FirstValues {
  return Object.fromEntries(row.had.map((name) => [name, row[name]]));
}

/** The history of one document. */
export async function historyAt(database: string, run_id: string, rows: ReadRows, document_id: string) {
  const { histories, warning } = await historiesAt(database, run_id, rows, [document_id]);
  return { history: histories[0], warning };
}
