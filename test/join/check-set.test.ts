import { expect, test } from "vitest";
import { problemsOfSet, runCommand, type ShardFacts } from "../../src/join/check-shard-set.js";
import { tool } from "../../src/tool.js";

const output = { formats: ["jsonl" as const], csv_safe: false, compress: "none" as const, partition: "none" as const };

function shard(
  index: number,
  changes: Partial<ShardFacts> & { readonly count?: number; readonly plan?: string } = {},
): ShardFacts {
  const { count = 3, plan = "p", ...facts } = changes;
  return {
    folder: `s${index}`,
    job: "nightly",
    run_id: `2026112${index}T020000123Z`,
    tool,
    service: { base_url: "https://kb.example.com/v1" },
    options: { output, service: { demo: false, concurrency: index }, details: false },
    shard: { index, count, plan },
    ...facts,
  };
}

const command = runCommand("nightly", { jobFile: "jobs/nightly.yaml", out: undefined });
const problems = (...shards: readonly ShardFacts[]) => problemsOfSet(shards, command);

test("shards that are one run have no problem, even with another pace", () => {
  expect(problems(shard(1), shard(2), shard(3))).toEqual([]);
});

test("names every missing shard with the command that makes it, and every shard that occurs twice", () => {
  expect(problems(shard(2), { ...shard(2), folder: "copy" })).toEqual([
    "shard 1 of 3 is missing; make it: kbdump run jobs/nightly.yaml --shard 1/3",
    "shard 2 of 3 is there twice: s2 and copy",
    "shard 3 of 3 is missing; make it: kbdump run jobs/nightly.yaml --shard 3/3",
  ]);
});

test("if no job file is known, the command guesses it and names an output folder", () => {
  const guess = runCommand("nightly", { jobFile: undefined, out: "/mnt/a b" });
  expect(guess({ index: 2, count: 3 })).toBe('kbdump run nightly.yaml --shard 2/3 --out "/mnt/a b"');
});

test.each<[string, Partial<ShardFacts> & { readonly count?: number; readonly plan?: string }, string]>([
  ["another job", { job: "weekly" }, "s1: it differs from s3, the newest, in its job"],
  ["another count", { count: 4 }, "s1: it differs from s3, the newest, in its number of shards"],
  [
    "another version",
    { tool: { ...tool, version: "0.1.9" } },
    `s1: kbdump 0.1.9 made it, and this is version ${tool.version}; make it again: `,
  ],
  ["another plan", { plan: "q" }, "s1: it differs from s3, the newest, in its plan; make it again: "],
  [
    "another service",
    { service: { base_url: "https://other.example" } },
    "s1: it differs from s3, the newest, in its service; make it again: ",
  ],
  [
    "other options",
    { options: { output: { ...output, csv_safe: true }, details: true } },
    "s1: it differs from s3, the newest, in its details and output.csv_safe; make it again: ",
  ],
])("%s than the newest shard is named with what to run again", (_, changes, sentence) => {
  const [found = "", ...others] = problems(shard(1, changes), shard(2), shard(3));
  expect(found.startsWith(sentence)).toBe(true);
  expect(found.endsWith("--shard 1/3") || !sentence.includes("again")).toBe(true);
  expect(others).toEqual("count" in changes ? [expect.stringContaining("shard 1 of 3 is missing")] : []);
});

test("the embedded service counts as one, whatever its port", () => {
  const demo = (index: number) =>
    shard(index, { options: { output, service: { demo: true } }, service: { base_url: `http://127.0.0.1:${index}` } });
  expect(problems(demo(1), demo(2), demo(3))).toEqual([]);
});

test("all problems are named at once", () => {
  expect(problems(shard(1, { plan: "q" }), shard(3)).map((text) => text.slice(0, 24))).toEqual([
    "s1: it differs from s3, ",
    "shard 2 of 3 is missing;",
  ]);
});
