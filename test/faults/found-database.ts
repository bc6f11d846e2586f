import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { DuckDBInstance } from "@duckdb/node-api";

/** The content of `<job>.duckdb`, as a reader sees it. */
export interface FoundDatabase {
  readonly sha256: string;
  /** Why it cannot be opened, or which tables are missing; empty if it is sound. */
  readonly problems: readonly string[];
  /** The ids of the runs in the database, from its table `runs`. */
  readonly runs: readonly string[];
  /** How many chunks the database has. */
  readonly chunks: number;
}

const promised = [
  "chunks",
  "child_chunks",
  "documents",
  "metadata_fields",
  "indexing_status",
  "runs",
  "chunk_changes",
  "child_chunk_changes",
];

/** Opens a database like a reader. */
export async function databaseIn(path: string): Promise<FoundDatabase> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  try {
    return { sha256, ...(await look(path)) };
  } catch (error) {
    const problem = `the database does not open: ${error instanceof Error ? error.message : String(error)}`;
    return { sha256, problems: [problem], runs: [], chunks: 0 };
  }
}

async function look(path: string): Promise<Omit<FoundDatabase, "sha256">> {
  const instance = await DuckDBInstance.create(path, { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  const column = async (sql: string) => (await connection.runAndReadAll(sql)).getRows().map(([value]) => String(value));
  try {
    const tables = await column("SELECT table_name FROM duckdb_tables()");
    const missing = promised.filter((table) => !tables.includes(table));
    if (missing.length > 0) return { problems: [`the database has no ${missing.join(", ")}`], runs: [], chunks: 0 };
    const [chunks] = await column("SELECT count(*) FROM chunks");
    return { problems: [], runs: await column("SELECT run_id FROM runs ORDER BY run_id"), chunks: Number(chunks) };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
