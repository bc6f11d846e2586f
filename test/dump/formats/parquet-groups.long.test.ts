import { expect, test } from "vitest";
import { sqlText } from "../../../src/duckdb/sql.js";
import { query } from "../../run/read-dump.js";
import { documentId, writePartition } from "./parquet-partition.js";

test("a reader of one document needs one or two of the row groups of its dataset", async () => {
  const { path } = await writePartition({ documents: 100, chunks: 300, text: "text " });
  const groups = await query(`SELECT stats_min_value AS first, stats_max_value AS last, row_group_num_rows AS rows
    FROM parquet_metadata(${sqlText(path)}) WHERE path_in_schema = 'document_id' ORDER BY row_group_id`);
  expect(groups.length).toBeGreaterThan(4);
  for (const [at, { first, rows }] of groups.entries()) {
    expect(Number(rows)).toBeLessThanOrEqual(8192);
    if (at > 0) expect(String(first) >= String(groups[at - 1]?.last)).toBe(true);
  }
  for (let document = 0; document < 100; document++) {
    const id = documentId(document);
    const touched = groups.filter(({ first, last }) => String(first) <= id && id <= String(last));
    expect(touched.length).toBeGreaterThanOrEqual(1);
    expect(touched.length).toBeLessThanOrEqual(2);
  }
  const [read] = await query(`SELECT count(*) AS n FROM read_parquet(${sqlText(path)}, hive_partitioning = true)
    WHERE dataset_id = 'd' AND document_id = ${sqlText(documentId(50))}`);
  expect(Number(read?.n)).toBe(300);
});
