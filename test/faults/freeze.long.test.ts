import pLimit from "p-limit";
import { expect, test } from "vitest";
import { randomFrom } from "../servers/random.js";
import { openEnvironment, runUndisturbed } from "./environment.js";
import { failureText } from "./failure-text.js";
import { freezeRounds, freezeSeed, roundText, roundTimeout } from "./freeze-rounds.js";
import { freezingKinds, playFreeze } from "./rivals.js";
import { drawSchedule, scheduleText } from "./schedule.js";

test.runIf(process.platform === "linux")(
  `a run that is frozen while another takes its place, ${freezeRounds} rounds: two never publish, and nothing is lost`,
  async () => {
    const environment = await openEnvironment();
    const undisturbed = await runUndisturbed(environment, freezingKinds);
    const { calls, takes } = undisturbed;
    const lanes = pLimit(1);
    const played = Array.from({ length: freezeRounds }, (_, round) =>
      lanes(async () => {
        const schedule = drawSchedule(round, calls, takes, randomFrom(freezeSeed + round));
        const problems = await playFreeze(environment, await environment.newPlace(), undisturbed, schedule);
        return failureText(`${roundText(round)}, ${scheduleText(schedule)}`, problems);
      }),
    );
    expect((await Promise.all(played)).flat()).toEqual([]);
  },
  roundTimeout,
);
