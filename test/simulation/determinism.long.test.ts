import { expect, test, vi } from "vitest";
import { rounds } from "../rounds.js";
import { drawScenario } from "./draw/draw-scenario.js";
import { drawMoving } from "./moving/draw-moving.js";
import { play } from "./play.js";

vi.mock("node:fs", async (original) => (await import("./files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("./files.js")).simulatedPromises(await original()));

test("two runs of a seed are identical, step by step", async () => {
  for (let seed = 1; seed <= rounds(4, 20); seed++) {
    const scenario = seed % 3 === 0 ? drawScenario(seed) : drawMoving(seed);
    const [one, other] = [await play(scenario), await play(scenario)];
    expect(one.trace.length, `seed ${seed}`).toBeGreaterThan(0);
    expect(one, `seed ${seed}`).toEqual(other);
  }
});
