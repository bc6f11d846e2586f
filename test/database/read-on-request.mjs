/**
 * Reads a database in a separate process: `node read-on-request.mjs <file> <access mode>`. Opens the file, confirms it,
 * then answers each line of SQL on stdin with a line of JSON until stdin ends.
 */
import { createInterface } from "node:readline";
import { DuckDBInstance } from "@duckdb/node-api";

const [, , file, access_mode] = process.argv;
const instance = await DuckDBInstance.create(file, { access_mode });
const connection = await instance.connect();
process.stdout.write("open\n");
for await (const sql of createInterface({ input: process.stdin })) {
  const answer = await connection.runAndReadAll(sql).then(
    (result) => result.getRowsJson(),
    (error) => String(error),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
connection.closeSync();
instance.closeSync();
