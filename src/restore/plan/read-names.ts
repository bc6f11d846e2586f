import type { Connection } from "../../duckdb/open-duckdb.js";
import type { Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/document-row.js";
import type { DocumentId } from "../document-rows.js";
import type { LoadOptions } from "../load-document-rows.js";

/** Reads the names of documents; those of a later dump win. Null where no dump has the list of documents. */
export async function readNames(
  connection: Connection,
  dumps: readonly Dump[],
  { signal }: LoadOptions,
): Promise<(document: DocumentId) => string | null> {
  const names = new Map<string, string>();
  for (const dump of dumps) {
    const [file] = dump.tablesOf(["document_info"], { guarded: true }) ?? [];
    if (!file) continue;
    const rows = await dump.select(await dump.check(file, () => signal.throwIfAborted()), "VARCHAR");
    const found = await connection.runAndReadAll(
      `SELECT dataset_id, document_id, name FROM (${rows}) SEMI JOIN old_documents USING (dataset_id, document_id) WHERE name <> ''`,
    );
    for (const [dataset_id, document_id, name] of found.getRowsJson())
      names.set(documentKey({ dataset_id, document_id }), String(name));
  }
  return (document) => names.get(documentKey(document)) ?? null;
}
