import { expect, test, vi } from "vitest";
import { rounds } from "../../rounds.js";
import { failureText } from "../failure-text.js";
import { Coverage } from "../judge/coverage.js";
import { type Played, play } from "../play.js";
import { drawMoving } from "./draw-moving.js";
import { movingText } from "./moving-text.js";

/**
 * A service whose data changes all the time, with small documents so that many seeds run quickly. `npm run test:moving` runs 100,000
 * seeds in parts. For KBDUMP_SEEDS, KBDUMP_FIRST_SEED, KBDUMP_SEED and KBDUMP_TRACE, see simulation.test.ts.
 */
vi.mock("node:fs", async (original) => (await import("../files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("../files.js")).simulatedPromises(await original()));

const { KBDUMP_SEED, KBDUMP_FIRST_SEED = 1, KBDUMP_TRACE, KBDUMP_PROGRESS } = process.env;
const [first, count] = [Number(KBDUMP_FIRST_SEED), rounds(200, 300, "KBDUMP_SEEDS")];

test.runIf(KBDUMP_SEED)(`seed ${KBDUMP_SEED}`, async () => {
  const played = await play(drawMoving(Number(KBDUMP_SEED)));
  if (KBDUMP_TRACE) process.stderr.write(`${played.trace.join("\n")}\n`);
  if (played.wrong.length > 0) expect.fail(failureText(played));
});

test.skipIf(KBDUMP_SEED)(`seeds ${first} to ${first + count - 1} lose nothing`, { timeout: 7_200_000 }, async () => {
  const coverage = new Coverage();
  const failed: Played[] = [];
  for (let seed = first; seed < first + count && failed.length < 5; seed++) {
    const played = await play(drawMoving(seed), coverage);
    if (played.wrong.length > 0) failed.push(played);
  }
  if (KBDUMP_PROGRESS) process.stdout.write(`seeds ${first} to ${first + count - 1}\n${movingText(coverage.counts)}\n`);
  if (failed.length > 0) expect.fail(failed.map(failureText).join("\n\n"));
  for (const [what, least] of Object.entries(wanted)) {
    expect(coverage.counts.get(what) ?? 0, `${what}: met too rarely`).toBeGreaterThan(least * count);
  }
});

/** How often each case must occur, per seed. */
const wanted: Readonly<Record<string, number>> = {
  "sweeps: complete": 0.25,
  "anchored: complete": 0.1,
  "counts: complete": 0.04,
  "anchored while edited": 0.05,
  "chunks swept while edited": 0.15,
  "children swept while edited": 0.05,
  "edited between the sweeps, without a trace": 0.005,
  "auto: embedded while edited": 0.005,
  "documents listed while they moved": 0.005,
  "unreadable rows: unstable": 0.005,
  "went on after an interruption": 0.1,
};
