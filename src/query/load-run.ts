import type { Connection } from "../duckdb/open-duckdb.js";
import { openDump } from "../dump/open-dump.js";
import { allKinds } from "../rows/columns.js";

/**
 * Loads the files of a run folder that a statement names: `chunks` for chunks.jsonl, or the same in another format. StopError when
 * a file is not as its run wrote it.
 */
export async function loadRun(
  connection: Connection,
  folder: string,
  statement: string,
  signal: AbortSignal,
): Promise<void> {
  const dump = await openDump(folder, "nothing was asked");
  for (const kind of allKinds) {
    const [file] = dump.tablesOf([kind], { guarded: true }) ?? [];
    if (!file || !new RegExp(`\\b${kind}\\b`, "i").test(statement)) continue;
    const checked = await dump.check(file, () => signal.throwIfAborted());
    const select = await dump.select(checked, "JSON");
    await connection.run(`CREATE TABLE ${kind} AS ${select}`).catch((error: unknown) => {
      throw dump.unreadable(file, error);
    });
  }
}
