import { expect, test } from "vitest";
import { writePartition } from "./parquet-partition.js";

test("the same rows give the same bytes, also where DuckDB reads them in several pieces", async () => {
  const document = { documents: 100, chunks: 600, text: "a text of some length ".repeat(50) };
  const [{ sha256 }, ...others] = [
    await writePartition(document),
    await writePartition(document),
    await writePartition(document),
  ];
  for (const other of others) expect(other.sha256).toBe(sha256);
});
