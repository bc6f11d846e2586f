import { rm } from "node:fs/promises";
import type { Connection, DuckDbOptions } from "../duckdb/open-duckdb.js";
import { sqlPath, sqlText } from "../duckdb/sql-text.js";
import { StopError } from "../errors.js";
import { bringUpToDate, columnsOf, type FoundColumns } from "./bring-up-to-date.js";
import { copyDatabase } from "./copy-database.js";
import { histories, historyKinds } from "./history.js";
import type { RunFacts } from "./run-rows.js";
import { tables } from "./tables.js";

/** The database of earlier runs. */
export interface Previous {
  readonly path: string;
  /** Ours alone. */
  readonly copy: string;
}

/** Runs `work` with a copy of the database at `path`, if there is one, beside `target`, and removes the copy. */
export async function withPrevious(
  path: string | undefined,
  options: DuckDbOptions & { readonly target: string },
  work: (previous?: Previous) => Promise<void>,
): Promise<void> {
  if (path === undefined) return work();
  const copy = `${options.target}.previous`;
  try {
    await copyDatabase(path, copy, options);
    await work({ path, copy });
  } finally {
    await rm(copy, { force: true });
  }
}

const noneIn = (table: string) =>
  `NOT EXISTS (FROM ${table} n WHERE n.dataset_id = p.dataset_id AND n.document_id = p.document_id)`;
const notReadNow = noneIn("read_now");

/** Attaches the database of earlier runs as `previous`, brought up to date: it is a copy, which is ours. */
export async function attachPrevious(connection: Connection, { path, copy }: Previous): Promise<void> {
  await connection.run(`ATTACH ${sqlPath(copy)} AS previous`);
  const found = await columnsOf(connection, "previous");
  refuseUnknown(found, path);
  await bringUpToDate(connection, "previous", found);
}

/**
 * Fills the tables with what earlier runs know of documents that are not in `read_now` or `listed_now`, and with their
 * history. A run that was killed when its database was in place is finished once more: what it says of that is left out.
 */
export async function keepPrevious(connection: Connection, { run, withoutChildren }: RunFacts): Promise<void> {
  const otherRun = `run_id <> ${sqlText(run.run_id)}`;
  const kept: Readonly<Record<string, string>> = {
    chunks: notReadNow,
    child_chunks: withoutChildren ? "true" : notReadNow,
    documents: notReadNow,
    document_info: noneIn("listed_now"),
    runs: otherRun,
    failed_reads: otherRun,
    document_changes: otherRun,
  };
  for (const name of Object.keys(tables)) {
    if (historyKinds.some((kind) => histories[kind].table === name)) continue; // with what this run adds, in one go
    const where = kept[name] ?? "true";
    await connection.run(`INSERT INTO ${name} BY NAME SELECT * FROM previous.main.${name} p WHERE ${where}`);
  }
}

/** A column that this kbdump does not know would be lost. */
function refuseUnknown(found: FoundColumns, path: string): void {
  for (const [table, { columns }] of Object.entries(tables)) {
    const known = columns.map(({ name }) => name);
    const extra = [...(found.get(table)?.keys() ?? [])].find((name) => !known.includes(name));
    if (extra !== undefined)
      throw new StopError(`${path} has a column that this kbdump does not know, ${table}.${extra}: use a newer one`);
  }
}
