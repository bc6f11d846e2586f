import { expect, test, vi } from "vitest";
import { playSeed } from "./play.js";

vi.mock("node:fs", async (original) => (await import("./files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("./files.js")).simulatedPromises(await original()));

test("two runs of one seed are the same, step by step", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const [one, other] = [await playSeed(seed), await playSeed(seed)];
    expect(one.trace.length, `seed ${seed}`).toBeGreaterThan(0);
    expect(one, `seed ${seed}`).toEqual(other);
  }
});
