import { expect, it } from "vitest";
import { columns, type Kind } from "../../src/rows/columns.js";
import { sqlTypes } from "../dump/formats/read-back.js";
import { JobDatabase } from "./job-database.js";

const ofKind = (kind: Kind) => columns[kind].map(({ name, type }) => [name, sqlTypes[type]]);
const runId = ["run_id", "VARCHAR"];

const change = [
  runId,
  ["change", "VARCHAR"],
  ["differs", "VARCHAR[]"],
  ["lineage", "BIGINT"],
  ["older_run_id", "VARCHAR"],
  ["lost", "VARCHAR[]"],
  ["manual_edit", "VARCHAR"],
];

const expected: Readonly<Record<string, readonly (readonly string[])[]>> = {
  chunks: [...ofKind("chunks"), runId],
  child_chunks: [...ofKind("child_chunks"), runId],
  documents: [...ofKind("documents"), runId],
  metadata_fields: [...ofKind("metadata_fields"), runId],
  indexing_status: ofKind("indexing_status"),
  runs: [
    runId,
    ["status", "VARCHAR"],
    ["started_at", sqlTypes.time],
    ["finished_at", sqlTypes.time],
    ["base_url", "VARCHAR"],
    ["tool_version", "VARCHAR"],
    ["documents", "BIGINT"],
    ["chunks", "BIGINT"],
    ["child_chunks", "BIGINT"],
    ["requests_sent", "BIGINT"],
    ["requests_retried", "BIGINT"],
    ["warnings", "VARCHAR[]"],
    ["changes", "BIGINT"],
  ],
  document_changes: [
    runId,
    ...["change", "dataset_id", "document_id", "name"].map((name): [string, string] => [name, "VARCHAR"]),
  ],
  document_info: [...ofKind("document_info"), runId],
  datasets: [...ofKind("datasets"), runId],
  document_details: [...ofKind("document_details"), runId],
  chunk_changes: [...change, ["new_id", "VARCHAR"], ...ofKind("chunks")],
  child_chunk_changes: [...change, ["new_segment_id", "VARCHAR"], ["new_id", "VARCHAR"], ...ofKind("child_chunks")],
  failed_reads: [runId, ...ofKind("documents")],
};

it("the database has the tables and columns of the contract, and no others", async () => {
  const database = await JobDatabase.create();
  await database.run("r1", {});
  const found = await database.query(
    "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY column_index",
  );
  const tables = await database.query("SELECT table_name FROM duckdb_tables()");
  expect(tables.map(([name]) => name).sort()).toEqual(Object.keys(expected).sort());
  for (const [table, wanted] of Object.entries(expected)) {
    expect(found.filter(([name]) => name === table).map(([, ...column]) => column)).toEqual(wanted);
  }
});

it("every table and column has a description", async () => {
  const database = await JobDatabase.create();
  await database.run("r1", {});
  await database.run("r2", {}); // every run recreates the comments
  const comments = await database.query(`
    SELECT table_name, '', comment FROM duckdb_tables()
    UNION ALL SELECT c.table_name, column_name, c.comment FROM duckdb_columns() c SEMI JOIN duckdb_tables() USING (table_name)`);
  expect(comments).toHaveLength(Object.values(expected).reduce((sum, columns) => sum + columns.length + 1, 0));
  for (const [table, column, comment] of comments) expect(comment, `${table}.${column}`).toMatch(/^\S.{2,}\S$/);
});

it("the comment of a column has its unit", async () => {
  const database = await JobDatabase.create();
  await database.run("r1", {});
  const sql =
    "SELECT comment FROM duckdb_columns() WHERE table_name = 'chunks' AND column_name IN ('word_count', 'created_at') ORDER BY ALL";
  expect(await database.query(sql)).toEqual([["length of the content (characters)"], ["when it was created (UTC)"]]);
});
