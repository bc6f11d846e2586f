import { expect, test, vi } from "vitest";
import { rounds } from "../../rounds.js";
import { randomFrom } from "../../servers/random.js";
import { type FileSabotage, place } from "./files.js";
import { playHolders } from "./play.js";
import type { RunSabotage } from "./run-once.js";

/**
 * Simulates processes that lock a job, stop each other from publishing (fencing), and publish. They are frozen, woken and killed at
 * any file operation, while their lock is removed or becomes stale. A seed decides which process does the next operation. An
 * operation in progress survives a rename of its folder, as on a network drive.
 *
 * KBDUMP_OWNER_SEEDS: the number of seeds (`npm run test:simulation` plays 20,000). KBDUMP_HOLDER_SEED: one seed, with its trace.
 */
vi.mock("node:fs", async (original) => (await import("./files.js")).scheduledFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("./files.js")).scheduledPromises(await original()));
vi.mock("node:timers/promises", async (original) => (await import("./mocks.js")).scheduledPauses(await original()));
vi.mock("../../../src/store/folder/lock-owner.js", async (original) =>
  (await import("./mocks.js")).simulatedHolders(await original()),
);
vi.mock("../../../src/database/inspect-database.js", async (original) =>
  (await import("./mocks.js")).simulatedInspection(await original()),
);

const { KBDUMP_HOLDER_SEED } = process.env;
const seeds = KBDUMP_HOLDER_SEED
  ? [Number(KBDUMP_HOLDER_SEED)]
  : Array.from({ length: rounds(20, 300, "KBDUMP_OWNER_SEEDS") }, (_, at) => at + 1);

/** The judge must detect each sabotage within this many schedules. */
const mostTries = 5_000;

async function isFoundOut(sabotage?: RunSabotage): Promise<boolean> {
  for (let seed = 1; seed <= mostTries; seed++) {
    const { wrong } = await playHolders(randomFrom(seed), sabotage);
    if (wrong.length > 0) return true;
  }
  return false;
}

test(`${seeds.length} schedules: nothing is lost, incomplete or changed, and every message is true`, {
  timeout: Math.max(120_000, seeds.length * 400),
}, async () => {
  const met = new Map<string, number>();
  for (const seed of seeds) {
    const played = await playHolders(randomFrom(seed));
    for (const what of played.met) met.set(what, (met.get(what) ?? 0) + 1);
    if (KBDUMP_HOLDER_SEED) process.stderr.write(`${played.trace.join("\n")}\n`);
    if (played.wrong.length > 0)
      expect.fail(`KBDUMP_HOLDER_SEED=${seed}\n${played.wrong.join("\n")}\n\n${played.trace.join("\n")}`);
  }
  if (seeds.length < 100) return;
  for (const what of ["frozen", "woken", "killed", "lock removed", "lock stale"])
    expect(met.get(what) ?? 0, `${what} is met too rarely`).toBeGreaterThan(seeds.length * 0.1);
});

/** Sabotages: each changes file operations to break one rule that keeps a process without the lock from publishing. */
const broken: Readonly<Record<string, FileSabotage>> = {
  "does not fence": (name, [path]) => (name === "readdir" && String(path).endsWith("/.work") ? () => [] : undefined),
  "does not empty and remove the folder that it renamed": (name, [path]) =>
    /^(rm|rmdir)$/.test(name) && /\/from\/[^/]+/.test(String(path)) ? () => undefined : undefined,
};

test.each(Object.entries(broken))(
  "the judge detects a program that %s",
  { timeout: 240_000 },
  async (_name, sabotage) => {
    place.sabotage = sabotage;
    try {
      expect(await isFoundOut()).toBe(true);
    } finally {
      place.sabotage = undefined;
    }
  },
);

test("the judge detects a program that reads published files before fencing", async () => {
  expect(await isFoundOut({ readsEarly: true })).toBe(true);
});
