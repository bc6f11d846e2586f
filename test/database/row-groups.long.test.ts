import { expect, test } from "vitest";
import { chunk, JobDatabase, read } from "./job-database.js";

test("many rows are in several row groups, so that loading needs only a few of them in memory", async () => {
  const database = await JobDatabase.create();
  const chunks = Array.from({ length: 70_000 }, (_, at) => chunk("a", `c${at}`));
  await database.run("r1", { documents: [read("a")], chunks });
  const groups = await database.query(`SELECT sum(count)::INTEGER FROM pragma_storage_info('chunks')
    WHERE column_name = 'id' AND segment_type = 'VARCHAR' GROUP BY row_group_id`);
  const rows = groups.map(([count]) => Number(count));
  expect(Math.max(...rows)).toBe(32_768);
  expect(rows.reduce((sum, count) => sum + count)).toBe(70_000);
});
