import { type DocumentHistory, loadHistory, readDocumentHistory } from "../../../src/compare/lost/evidence.js";
import type { Row } from "../../../src/rows/row.js";
import { dataset } from "../../database/job-database.js";
import { quoted, read } from "../../database/query.js";

interface ReadRows {
  readonly chunks: readonly Row[];
  readonly children?: readonly Row[];
}

/** The histories of documents up to a run that read these rows, as the database has them, and the warning if it has none. */
export function historiesAt(
  database: string,
  run_id: string,
  { chunks, children = [] }: ReadRows,
  documents: readonly string[],
): Promise<{ readonly histories: readonly DocumentHistory[]; readonly warning: string | undefined }> {
  return read(undefined, async (connection) => {
    const table = (name: string, rows: readonly Row[], more: string) => {
      const types = `[{"dataset_id": "VARCHAR", "document_id": "VARCHAR", "id": "VARCHAR"${more}}]`;
      return connection.run(
        `CREATE TABLE ${name} AS SELECT unnest(from_json(${quoted(JSON.stringify(rows))}::JSON, '${types}'), recursive := true)`,
      );
    };
    await table("read_chunks", chunks, ', "status": "VARCHAR", "created_at": "TIMESTAMP WITH TIME ZONE"');
    await table("read_children", children, "");
    const of = { database, run_id, chunks: "read_chunks", children: "read_children" };
    const warning = await loadHistory(connection, of, new AbortController().signal);
    const histories: DocumentHistory[] = [];
    for (const document_id of documents)
      histories.push(await readDocumentHistory(connection, { dataset_id: dataset, document_id }));
    return { histories, warning };
  });
}

/** The same of one document. */
export async function historyAt(database: string, run_id: string, rows: ReadRows, document_id: string) {
  const { histories, warning } = await historiesAt(database, run_id, rows, [document_id]);
  return { history: histories[0], warning };
}
