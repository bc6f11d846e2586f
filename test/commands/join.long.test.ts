import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { expect, test } from "vitest";
import { joinResult } from "../../src/commands/join.js";
import { runHere } from "../cli/run-here.js";
import { startJoining } from "../join/joining.js";
import { underLease } from "../under-lease.js";

test("kbdump join prints its result, as text and as JSON, by the name of the job and by its file", async () => {
  const { runShards, dir, file, shards } = await startJoining(4);
  await runShards(2);
  const words = await runHere(["join", "test", "--out", dir, "--quiet"]);
  expect(words).toMatchObject({ code: 0, stderr: "" });
  expect(words.stdout).toMatch(
    /^complete: 4 documents, .* chunks?, .* child chunks?\njoined from 2 shards in .*; they took \d+ requests, .* received\n/,
  );
  const { code, stdout } = await runHere(["join", file, "--json", "--quiet", "--format", "csv"]);
  const result = v.parse(joinResult, JSON.parse(stdout));
  expect([code, result.status, result.shard]).toEqual([0, "complete", null]);
  expect(result.shards.map(({ index, folder }) => [index, folder])).toEqual(
    result.shards.map(({ index, run_id }) => [index, join(shards, `${index}-of-2`, "runs", run_id)]),
  );
});

test("kbdump join ends with 3 and the commands that mend it, 1 without a shard, 2 without any, 5 while the job is held", async () => {
  const { runShards, dir, job, behaviour, store, shards } = await startJoining(4);
  const [id = ""] = [...store.datasets.values()].flatMap(({ documents }) => [...documents.keys()]);
  behaviour.documentError = new Map([[id, { status: 400, body: { code: "x", message: "no", status: 400 } }]]);
  const line = ["join", "test", "--out", dir, "--quiet"];
  expect((await runHere(line)).code).toBe(2);
  await runShards(2);
  const asked = await runHere(["sql", join(shards, "1-of-2"), "SELECT 1"]);
  expect(asked).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("1-of-2: it is a shard, which has no database."),
  });
  const partial = await runHere(line);
  expect(partial.code).toBe(3);
  expect(partial.stderr).toBe("kbdump: published, but 1 of 4 documents failed or changed while they were read\n");
  expect(partial.stdout).toMatch(
    /read what is missing:\n {2}kbdump run test\.yaml --shard \d\/2 --out \S+ --retry-failed\n {2}kbdump join test --out \S+ --quiet\n/,
  );
  await underLease(job, { now: () => new Date(), log: () => {} }, async () =>
    expect((await runHere(line)).code).toBe(5),
  );
  await rm(join(shards, "1-of-2"), { recursive: true });
  const missing = await runHere(line);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain("shard 1 of 2 is missing; make it: kbdump run test.yaml --shard 1/2 --out ");
});
