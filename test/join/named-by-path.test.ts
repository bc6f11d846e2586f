import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runKbdump } from "../cli/run-kbdump.js";
import { startJoining } from "./joining.js";

test.each([
  { cwd: "out/test/shards", words: ["1-of-2", "2-of-2"] },
  { cwd: "out/test", words: ["shards/1-of-2", "../test/shards/2-of-2"] },
])("shards named $words in $cwd are joined into the job above them", async ({ cwd, words }) => {
  const { runShards, folder, dir } = await startJoining();
  await runShards(2);
  const joined = await runKbdump(["join", ...words, "--json", "--quiet"], {}, join(folder, cwd));
  expect(joined).toMatchObject({ code: 0, stderr: "" });
  const { run_id } = JSON.parse(joined.stdout);
  expect(await readlink(join(dir, "test", "latest"))).toBe(join("runs", run_id));
});
