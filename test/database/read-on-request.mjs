/**
 * A reader of a database in a process of its own: `node read-on-request.mjs <file> <access mode>`. It opens the file, says
 * so, and answers every line of SQL that it is sent with a line of JSON, until its input ends.
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
