import { constants, copyFile, rm } from "node:fs/promises";
import { type Connection, type DuckDbOptions, withDuckDb } from "../duckdb/open-duckdb.js";
import { sqlPath, sqlText } from "../duckdb/sql.js";
import { joinedRows, type RowFiles, type StagedRows } from "../dump/formats/format.js";
import { selectRows } from "../dump/formats/jsonl.js";
import { StopError } from "../errors.js";
import { seal } from "../files/files.js";
import { columns, type Kind } from "../rows/columns.js";
import { jsonText } from "../rows/exact-json.js";
import { recordChanges } from "./record-changes.js";
import {
  createTables,
  type HistoryKind,
  histories,
  historyKinds,
  type RunFacts,
  type RunRow,
  type RunRows,
  tables,
} from "./tables.js";
import { createViews } from "./views.js";

/**
 * The size of a row group: rows that DuckDB collects in memory before it compresses them. Its default is 122,880, its minimum
 * 2,048.
 */
const groupRows = 32_768;

interface BuildOptions extends DuckDbOptions {
  /** The database of earlier runs, if any. It is read and never changed. */
  readonly previous: string | undefined;
  /** The database to create. The caller moves it into place. */
  readonly target: string;
  /** Status snapshots that `kbdump status` left for the next run. */
  readonly waiting: readonly RowFiles[];
}

/** Builds the database from the joined JSONL of an unpublished run. */
export async function buildFromStaged(staged: StagedRows & RunFacts, options: BuildOptions): Promise<void> {
  const select: RunRows["select"] = (kind) => {
    const files = joinedRows(staged, kind);
    return files && selectRows(kind, files, "JSON");
  };
  await buildDatabase({ ...staged, select }, options);
}

/**
 * Builds a new database next to the old one: the earlier state of documents that this run did not read, the rows that it read, and
 * the history of both. Works on a copy, so that users of the old file are not affected, and their locks do not matter. Uses one
 * thread: a second one would take more CPU time without being faster, and leave holes in the file. Rejects with DuckDB's error if
 * rows cannot be loaded.
 */
export async function buildDatabase(run: RunRows, options: BuildOptions): Promise<void> {
  await rm(options.target, { force: true });
  await withPrevious(options.previous, options, async (previous) =>
    withDuckDb(":memory:", { ...options, threads: 1 }, async (connection) => {
      await connection.run(`ATTACH ${sqlPath(options.target)} AS built (ROW_GROUP_SIZE ${groupRows}); USE built`);
      await createTables(connection);
      if (previous) await connection.run(`ATTACH ${sqlPath(previous.copy)} AS previous`); // our own copy
      await sortDocuments(connection, run, previous !== undefined);
      if (previous) await keepPrevious(connection, run);
      await addRun(connection, run, options.waiting);
      if (previous) await recordChanges(connection, run, options.signal ?? new AbortController().signal);
      if (previous) await connection.run("DETACH previous");
      await createViews(connection);
      await connection.run("CHECKPOINT");
    }),
  );
  await seal(options.target);
}

async function addRun(connection: Connection, run: RunRows, waiting: readonly RowFiles[]): Promise<void> {
  const id = sqlText(run.run.run_id);
  for (const kind of historyKinds) await addRows(connection, kind, run);
  await connection.run(`INSERT INTO documents SELECT *, ${id} FROM read_now`);
  if (run.select("document_info")) await connection.run(`INSERT INTO document_info SELECT *, ${id} FROM listed_now`);
  await connection.run(`INSERT INTO failed_reads SELECT ${id}, * FROM failed_now`);
  await replaceRows(connection, "metadata_fields", ["dataset_id"], run);
  await replaceRows(connection, "datasets", ["dataset_id"], run);
  await replaceRows(connection, "document_details", ["dataset_id", "document_id"], run);
  for (const file of waiting) await addStatus(connection, selectRows("indexing_status", file, "JSON"));
  const readings = run.select("indexing_status");
  if (readings) await addStatus(connection, readings);
  await addDocumentChanges(connection, run);
  await addRunRow(connection, run.run);
}

/** Replaces the rows of a kind that earlier runs read for the same dataset or document. */
async function replaceRows(
  connection: Connection,
  kind: Kind,
  ids: readonly string[],
  { select, run }: RunRows,
): Promise<void> {
  const rows = select(kind);
  if (!rows) return;
  const same = ids.map((id) => `t.${id} = n.${id}`).join(" AND ");
  await connection.run(
    `DELETE FROM ${kind} t USING (SELECT DISTINCT ${ids.join(", ")} FROM (${rows})) n WHERE ${same}`,
  );
  await connection.run(`INSERT INTO ${kind} SELECT *, ${sqlText(run.run_id)} FROM (${rows})`);
}

/** Adds new and vanished documents. Vanished documents get their names from their last rows. */
async function addDocumentChanges(connection: Connection, { run, documentChanges = [] }: RunRows): Promise<void> {
  if (documentChanges.length === 0) return;
  const types = sqlText('[{"change": "VARCHAR", "dataset_id": "VARCHAR", "document_id": "VARCHAR"}]');
  const statement = await connection.prepare(`INSERT INTO document_changes
    SELECT ${sqlText(run.run_id)}, change, dataset_id, document_id, name
    FROM (SELECT unnest(from_json($1::JSON, ${types}), recursive := true)) LEFT JOIN document_info USING (dataset_id, document_id)`);
  statement.bindVarchar(1, jsonText(documentChanges));
  await statement.run();
}

/** Adds all rows of a kind, then removes those of documents that keep an earlier state (`passed_over`). */
async function addRows(connection: Connection, kind: HistoryKind, { select, rows, run }: RunRows): Promise<void> {
  const [source, id] = [select(kind), sqlText(run.run_id)];
  const rowsChanged = source
    ? (await connection.run(`INSERT INTO ${kind} SELECT *, ${id} FROM (${source})`)).rowsChanged
    : 0;
  if (rowsChanged !== rows(kind)) throw new Error(`${kind} has ${rowsChanged} rows for ${rows(kind)}`);
  await connection.run(`DELETE FROM ${kind} c USING passed_over p
    WHERE c.run_id = ${id} AND c.dataset_id = p.dataset_id AND c.document_id = p.document_id`);
}

async function addRunRow(connection: Connection, run: RunRow): Promise<void> {
  const types = tables.runs?.columns.map(({ name, type }) => `"${name}": '${type}'`).join(", ");
  const statement = await connection.prepare(
    `INSERT INTO runs SELECT unnest(from_json($1::JSON, ${sqlText(`{${types}}`.replaceAll("'", '"'))}))`,
  );
  statement.bindVarchar(1, jsonText(run));
  await statement.run();
}

/** The database of earlier runs. */
interface Previous {
  readonly path: string;
  /** The path of the copy, which only this process uses. */
  readonly copy: string;
}

/**
 * If there is a database at `path`, runs `work` with a temporary copy of it, next to `target`; otherwise runs `work` without
 * one.
 */
async function withPrevious(
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

/**
 * Copies the rows of earlier runs, except for documents in `read_now` or `listed_now`. The tables of changes follow later. Leaves out
 * the rows of this run: the database has them if the run was killed after it replaced the database, and is now being finished.
 */
async function keepPrevious(connection: Connection, { run, withoutChildren }: RunFacts): Promise<void> {
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
    if (historyKinds.some((kind) => histories[kind].table === name)) continue; // copied later, in one statement with the changes of this run
    const where = kept[name] ?? "true";
    await connection.run(`INSERT INTO ${name} BY NAME SELECT * FROM previous.main.${name} p WHERE ${where}`);
  }
}

/**
 * Sorts the documents of a run into temporary tables. `read_now`: their older rows are replaced. `passed_over`: they are unstable
 * in this run, and keep the complete state from an earlier run. `failed_now`: all incomplete ones, as this run found them.
 * `listed_now`: documents that the service listed, if asked.
 */
async function sortDocuments(
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

const names = columns.indexing_status.map(({ name }) => `"${name}"`).join(", ");
const key = ["captured_at", "dataset_id", "batch", "document_id"];
const same = key.map((name) => `s.${name} IS NOT DISTINCT FROM f.${name}`).join(" AND ");

/** Adds status snapshots selected by SQL, skipping those that are already there. */
async function addStatus(connection: Connection, select: string): Promise<void> {
  await connection.run(`INSERT INTO indexing_status (${names})
    SELECT * FROM (${select}) f
    WHERE NOT EXISTS (FROM indexing_status s WHERE ${same})`);
}

/** Creates `target`: a copy of the database plus status snapshots, or a new one with only those. */
export async function copyWithStatus(
  previous: string | undefined,
  target: string,
  files: readonly RowFiles[],
  options: DuckDbOptions,
): Promise<void> {
  await rm(target, { force: true });
  if (previous !== undefined) await copyDatabase(previous, target, options);
  await withDuckDb(target, options, async (connection) => {
    await createTables(connection);
    await createViews(connection);
    for (const file of files) await addStatus(connection, selectRows("indexing_status", file, "JSON"));
    await connection.run("CHECKPOINT");
  });
  await seal(target);
}

/** Copies a database that others may have open, regardless of their locks. Throws StopError if it cannot be read. */
export async function copyDatabase(path: string, copy: string, options: DuckDbOptions): Promise<void> {
  await copyFile(path, copy, constants.COPYFILE_FICLONE);
  await withDuckDb(copy, options, async () => {}).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message.replaceAll(copy, path) : String(cause);
    throw new StopError(`${path} cannot be read; move it away, and a new database is made, or restore it: ${reason}`, {
      cause,
    });
  });
}
