import { describe, test } from "vitest";
import { rounds } from "../rounds.js";
import { hasRedis } from "../servers/start-redis.js";
import { startEnvironment } from "./environment.js";
import { playRound } from "./play-round.js";

/** One seed to repeat; by default, a new seed for every round. `npm run test:workers` sets 100 rounds. */
const given = process.env.KBDUMP_WORKER_SEED;
const count = rounds(1, 20, "KBDUMP_WORKER_ROUNDS");
const seeds = given ? [Number(given)] : Array.from({ length: count }, () => Math.floor(Math.random() * 1e9));

describe.skipIf(!hasRedis)("kills, frozen processes and a broker that forgets, at random moments", () => {
  test(`${seeds.length} rounds: the bytes of a single run, and no half of one`, async () => {
    const environment = await startEnvironment(40, 20); // more documents than the workers take at once
    for (const [at, seed] of seeds.entries()) {
      const begin = performance.now();
      await playRound(environment, seed);
      const seconds = ((performance.now() - begin) / 1000).toFixed(1);
      if (process.env.KBDUMP_TRACE === "1") process.stderr.write(`round ${at + 1}, seed ${seed}: ${seconds} s\n`);
    }
  }, 7_200_000);
});
