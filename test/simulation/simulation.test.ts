import { expect, test, vi } from "vitest";
import { rounds } from "../rounds.js";
import { failureText } from "./failure-text.js";
import { Coverage } from "./judge/coverage.js";
import { type Played, playSeed } from "./play.js";

/**
 * Deterministic simulation testing, as in FoundationDB, of crawling, proofs, retries, pacing, resuming and sweeps. The service, the
 * clock and a failing disk are simulated, one seed decides all events, and no real time passes. `judge/` has the checks.
 *
 * KBDUMP_SEEDS: the number of seeds (`npm run test:simulation` runs 10,000). KBDUMP_FIRST_SEED: the first seed. KBDUMP_SEED: only this
 * seed; with KBDUMP_TRACE=1, prints all events.
 */
vi.mock("node:fs", async (original) => (await import("./files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("./files.js")).simulatedPromises(await original()));

const { KBDUMP_SEED, KBDUMP_FIRST_SEED = 1, KBDUMP_TRACE } = process.env;
const [first, count] = [Number(KBDUMP_FIRST_SEED), rounds(50, 100, "KBDUMP_SEEDS")];
const longest = 3_600_000;

test.runIf(KBDUMP_SEED)(`seed ${KBDUMP_SEED}`, async () => {
  const played = await playSeed(Number(KBDUMP_SEED));
  if (KBDUMP_TRACE) process.stderr.write(`${played.trace.join("\n")}\n`);
  if (played.wrong.length > 0) expect.fail(failureText(played));
});

test.skipIf(KBDUMP_SEED)(
  `seeds ${first} to ${first + count - 1} keep every promise`,
  { timeout: longest },
  async () => {
    const coverage = new Coverage();
    const failed: Played[] = [];
    for (let seed = first; seed < first + count && failed.length < 5; seed++) {
      const played = await playSeed(seed, coverage);
      if (played.wrong.length > 0) failed.push(played);
    }
    if (failed.length > 0) expect.fail(failed.map(failureText).join("\n\n"));
    const counts = Object.fromEntries(coverage.counts);
    for (const [what, least] of Object.entries(wanted)) {
      expect(counts[what] ?? 0, `${what}: met too rarely; ${JSON.stringify(counts)}`).toBeGreaterThan(least * count);
    }
  },
);

/** How often each case must occur, per seed, because a case that never occurs is not tested. */
const wanted: Readonly<Record<string, number>> = {
  complete: 1,
  unstable: 0.02,
  failed: 0.05,
  "given up": 0.002, // a page that is never answered only fails its document
  "went on after an interruption": 0.2,
  "as undisturbed": 0.05,
  "as undisturbed, resumed": 0.03,
  "complete although edited": 0.2,
  "chunks swept while edited": 0.03,
  "children swept while edited": 0.005,
  "edited between the sweeps, without a trace": 0.002,
  "proof: anchored": 0.05, // moving.test.ts has more changing data
  "unreadable rows: unstable": 0.01,
  "documents listed": 0.05,
  "auto: skipped": 0.03,
  "auto: embedded": 0.1,
  "auto: fewer lists, resumed": 0.04,
  "auto: embedded while edited": 0.02,
};
