import type { Connection } from "../duckdb/open-duckdb.js";
import type { RunRows } from "./run-rows.js";

/**
 * Sorts the documents of a run into temporary tables: `read_now`, whose older rows make way; `passed_over`, which moved while
 * they were read and keep the complete state that an earlier run read; `failed_now`, all that are not complete, as the run
 * found them; `listed_now`, what the service listed, if it was asked.
 */
export async function sortDocuments(
  connection: Connection,
  { select }: Pick<RunRows, "select">,
  previous: boolean,
): Promise<void> {
  const documents = select("documents") ?? "SELECT * EXCLUDE (run_id) FROM documents";
  const listing = select("document_info");
  const listed = listing ? `(${listing})` : "document_info";
  const passedOver = previous
    ? `FROM documents_now n SEMI JOIN (FROM previous.main.documents WHERE status = 'complete') p
        USING (dataset_id, document_id) WHERE status = 'unstable'`
    : "FROM documents_now LIMIT 0";
  await connection.run(`
    CREATE TEMP TABLE documents_now AS ${documents};
    CREATE TEMP TABLE failed_now AS FROM documents_now WHERE status IS DISTINCT FROM 'complete';
    CREATE TEMP TABLE passed_over AS ${passedOver};
    CREATE TEMP TABLE read_now AS FROM documents_now ANTI JOIN passed_over USING (dataset_id, document_id)
      WHERE status IS DISTINCT FROM 'failed';
    CREATE TEMP TABLE listed_now AS FROM ${listed}`);
}
