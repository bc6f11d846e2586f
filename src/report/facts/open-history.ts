import { attachJob, attachReason } from "../../database/attach-job.js";
import { tables } from "../../database/tables.js";
import { type Connection, lacksMemory } from "../../duckdb/open-duckdb.js";
import { databaseOf } from "../../dump/job-database.js";
import type { Dump } from "../../dump/open-dump.js";

export interface HistoryOptions {
  /** The database of the job; undefined: the one beside the folder of runs, if it is there. */
  readonly database: string | undefined;
  readonly signal: AbortSignal;
}

/** Tables of the database that a report asks. */
const asked = ["runs", "documents", "failed_reads", "document_changes", "indexing_status"];
const changes = ["chunk_changes", "child_chunk_changes"];

/**
 * Attaches the database of the job as `job`, to be read only, if it has the run. Whatever is wrong with it, there is no history: gives
 * the reason as a sentence, null if all went well. The path is not in it, for a report may go to somebody else.
 */
export async function openHistory(
  connection: Connection,
  dump: Dump,
  { database = undefined, signal }: HistoryOptions,
): Promise<string | null> {
  const path = database ?? (await databaseOf(dump));
  if (path === undefined) return "There is no history, because there is no database of the job beside the run.";
  const { run_id } = dump.manifest;
  try {
    const reason = await attachJob(connection, { database: path, run_id });
    if (reason === undefined) {
      for (const name of [...asked, ...changes])
        await connection.run(`${columnsOf(name)} FROM job.main.${name} LIMIT 0`);
      return null;
    }
    await connection.run("DETACH DATABASE job");
    return sentenceOf(reason);
  } catch (error) {
    signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    await connection.run("DETACH DATABASE IF EXISTS job").catch(() => {});
    return sentenceOf(attachReason(error, path));
  }
}

/** SQL: fails where a column is not there. */
function columnsOf(table: string): string {
  return `SELECT ${(tables[table]?.columns ?? []).map(({ name }) => `"${name}"`).join(", ")}`;
}

function sentenceOf(reason: string): string {
  return `The history in the database of the job was not used: ${reason}.`;
}
