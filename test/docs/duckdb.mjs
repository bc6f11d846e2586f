// A substitute for the DuckDB command line, which may not be installed: duckdb [-readonly DATABASE | -c] SQL
import { DuckDBInstance } from "@duckdb/node-api";

const args = process.argv.slice(2);
const sql = args.pop();
const [flag, database = ":memory:"] = args;
if (sql === undefined || !["-readonly", "-c"].includes(flag))
  throw new Error(`unexpected: duckdb ${process.argv.slice(2)}`);
const instance = await DuckDBInstance.create(database, flag === "-readonly" ? { access_mode: "READ_ONLY" } : {});
const connection = await instance.connect();
const reader = await connection.runAndReadAll(sql);
process.stdout.write(`${JSON.stringify(reader.getRowObjectsJson())}\n`);
connection.closeSync();
