import { expect, test, vi } from "vitest";
import { rounds } from "../../rounds.js";
import { failureText } from "../failure-text.js";
import { Coverage } from "../judge/coverage.js";
import { movingText } from "../moving/moving-text.js";
import type { Played } from "../play.js";
import { drawSharded } from "./draw-shards.js";
import { playShards } from "./play-shards.js";

/**
 * Reads a service with changing data in shards, one after another or all at once, and joins them. Judges each document of the joined
 * dump like one of a single run. KBDUMP_SHARD_SEEDS: the number of seeds; for the other variables, see simulation.test.ts.
 */
vi.mock("node:fs", async (original) => (await import("../files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("../files.js")).simulatedPromises(await original()));

const { KBDUMP_SEED, KBDUMP_FIRST_SEED = 1, KBDUMP_TRACE, KBDUMP_PROGRESS } = process.env;
const first = Number(KBDUMP_SEED ?? KBDUMP_FIRST_SEED);
const count = KBDUMP_SEED ? 1 : rounds(1, 150, "KBDUMP_SHARD_SEEDS");

test(`seeds ${first} to ${first + count - 1}: a joined dump reports the truth about each document`, {
  timeout: 60_000 + count * 4_000,
}, async () => {
  const coverage = new Coverage();
  const failed: Played[] = [];
  for (let seed = first; seed < first + count && failed.length < 5; seed++) {
    const played = await playShards(drawSharded(seed), coverage);
    if (KBDUMP_TRACE) process.stderr.write(`${played.trace.join("\n")}\n`);
    if (played.wrong.length > 0) failed.push(played);
  }
  if (KBDUMP_PROGRESS) process.stdout.write(`${movingText(coverage.counts)}\n`);
  if (failed.length > 0) expect.fail(failed.map(failureText).join("\n\n"));
  if (count < 100) return;
  for (const [what, least] of Object.entries(wanted))
    expect(coverage.counts.get(what) ?? 0, `${what}: met too rarely`).toBeGreaterThan(least * count);
});

/** How often each case must occur, per seed. */
const wanted: Readonly<Record<string, number>> = {
  "joined: complete": 0.25,
  "joined: partial": 0.2,
  "joined from lists that differ": 0.04,
  "not listed by its own shard": 0.04,
  "documents came and went": 0.2,
  "complete although edited": 0.5,
  "unstable after edits": 0.1,
  "failed after edits": 0.1,
};
