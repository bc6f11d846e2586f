import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import pLimit from "p-limit";

const settings = { autoinstall_known_extensions: "false", autoload_known_extensions: "false", threads: "2" };

let own: Promise<DuckDBInstance> | undefined;
/** Lets one reader at a time attach a file, because a file cannot be attached twice. */
const turn = pLimit(1);

/**
 * Opens a connection that reads the file. All connections share one DuckDB instance, because opening an instance takes
 * ten times as long.
 */
export function read<T>(file: string | undefined, use: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  return turn(async () => {
    own ??= DuckDBInstance.create(":memory:", settings);
    const connection = await (await own).connect();
    try {
      const attach = file === undefined ? "ATTACH ':memory:' AS own" : `ATTACH ${quoted(file)} AS own (READ_ONLY)`;
      await connection.run(`${attach}; USE own`);
      return await use(connection);
    } finally {
      await connection.run("USE memory");
      for (const name of await attachedTo(connection)) await connection.run(`DETACH "${name}"`);
      connection.closeSync();
    }
  });
}

/** The attached databases, including those a test attached itself: the next reader must not see them. */
async function attachedTo(connection: DuckDBConnection): Promise<readonly string[]> {
  const sql = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'";
  return (await connection.runAndReadAll(sql)).getRowsJson().map(([name]) => String(name));
}

/** Runs a query in the tests' own DuckDB; numbers above 2^31, times and dates are returned as text. */
export function query(sql: string, file?: string): Promise<readonly (readonly unknown[])[]> {
  return read(file, async (connection) => (await connection.runAndReadAll(sql)).getRowsJson());
}

/** Runs a statement that changes the file. */
export async function change(sql: string, file: string): Promise<void> {
  const instance = await DuckDBInstance.create(file, settings);
  const connection = await instance.connect();
  try {
    await connection.run(sql);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Quotes a string for SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
