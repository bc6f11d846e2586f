import { expect, test } from "vitest";
import { StopError } from "../src/errors.js";
import { isDiskError, sayDiskError } from "../src/file-error.js";

test.each([
  [
    "node",
    Object.assign(new Error("EIO: i/o error, write"), { code: "EIO", path: "/data/chunks.jsonl" }),
    "/data/chunks.jsonl",
  ],
  ["DuckDB", new Error('IO Error: Could not write file "x": Input/output error'), "/out"],
  ["a flush of DuckDB", new Error("FATAL Error: fsync failed!"), "/out"],
  [
    "a checkpoint of DuckDB",
    new Error("FATAL Error: Failed to create checkpoint because of error: fsync failed!"),
    "/out",
  ],
])("a disk that fails %s is named with its place, the step and what to do", (_who, error, place) => {
  const said = sayDiskError(error, "/out", "writing duckdb");
  expect(said).toBeInstanceOf(StopError);
  expect(String(said)).toContain(`the disk reports an error at ${place} (writing duckdb). Nothing was published.`);
  expect(isDiskError(error)).toBe(true);
});

test("any other error stays unchanged", () => {
  const error = new Error("FATAL Error: something else");
  expect(sayDiskError(error, "/out", "writing duckdb")).toBe(error);
  expect(isDiskError(error)).toBe(false);
});
