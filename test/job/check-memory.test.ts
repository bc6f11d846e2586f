import { expect, test } from "vitest";
import { withDuckDb } from "../../src/duckdb/open-duckdb.js";
import { checkJob, checkMemory } from "../../src/job/check-job.js";
import { testFolder } from "../run/job-for.js";
import { smallJob } from "./job-folder.js";

const sizes = ["800MB", "2GB", "1.5 GiB", "64 mib", "1tb", "900KB"];
const others = ["", "800", "80%", "0MB", "-1GB", "1.GB", "1  GB", " 1GB", "1GB ", "lots", 800, ["1GB", "2GB"], null];

test.each([...sizes, ...others])("--memory accepts %j like output.memory", (memory) => {
  const { wrongValues } = checkJob({ ...smallJob, output: { memory } }, {});
  expect(checkMemory(memory).length > 0).toBe(!sizes.some((size) => size === memory));
  if (memory !== null) expect(checkMemory(memory).length).toBe(wrongValues.length); // in a job file, null means the default
});

test("the problem names the flag, the value and what is expected", () => {
  expect(checkMemory("lots")).toEqual([
    { path: "--memory", message: 'got "lots", expected a size such as 800MB or 2GB' },
  ]);
});

test.each(sizes)("DuckDB understands %s", async (memory) => {
  const limit = "SELECT current_setting('memory_limit') AS memory";
  const rows = await withDuckDb(":memory:", { memory, temporary: await testFolder() }, async (connection) =>
    (await connection.runAndReadAll(limit)).getRowObjectsJson(),
  );
  expect(rows).toHaveLength(1);
});
