import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/rows-of.js";
import { documentKey } from "../rows/document-row.js";
import type { ReadRun } from "./read-run.js";

/** The names of a document and its dataset; null where neither run listed the documents. */
export interface Names {
  readonly dataset_name: string | null;
  readonly document_name: string | null;
}

const unknown: Names = { dataset_name: null, document_name: null };

/** Reads the names of all documents; those of a later run win. StopError if a file of names is not as its run wrote it. */
export async function readNames(
  connection: Connection,
  runs: readonly ReadRun[],
): Promise<(document: { readonly dataset_id: string; readonly document_id: string }) => Names> {
  const names = new Map<string, Names>();
  for (const { dump } of runs) {
    const [file] = dump.tablesOf(["document_info"], { guarded: true }) ?? [];
    if (!file) continue;
    const rows = await dump.select(await dump.check(file), "VARCHAR");
    const sql = `SELECT dataset_id, document_id, dataset_name, name FROM (${rows})`;
    for (const { dataset_id, document_id, dataset_name, name } of await rowsOf(connection, sql)) {
      const key = documentKey({ dataset_id: String(dataset_id), document_id: String(document_id) });
      names.set(key, { dataset_name: textOf(dataset_name), document_name: textOf(name) });
    }
  }
  return (document) => names.get(documentKey(document)) ?? unknown;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : null);
