import pLimit from "p-limit";
import { expect, test } from "vitest";
import { randomFrom } from "../servers/random.js";
import { openEnvironment, runUndisturbed } from "./environment.js";
import { failureText } from "./failure-text.js";
import { freezeRounds, freezeSeed, roundText, roundTimeout } from "./freeze-rounds.js";
import { playRemoval } from "./rivals.js";
import { momentOf } from "./schedule.js";

const rounds = Math.ceil(freezeRounds / 8);

test.runIf(process.platform === "linux")(
  "a lock that is removed in the middle, two runs at once: at most one publishes a run, and nothing half",
  async () => {
    const environment = await openEnvironment();
    const undisturbed = await runUndisturbed(environment);
    const lanes = pLimit(1);
    const played = Array.from({ length: rounds }, (_, round) =>
      lanes(async () => {
        const moment = momentOf(undisturbed.takes, randomFrom(freezeSeed + round));
        const problems = await playRemoval(environment, await environment.newPlace(), undisturbed, moment);
        return failureText(`${roundText(round)}, lock removed after ${moment} ms`, problems);
      }),
    );
    expect((await Promise.all(played)).flat()).toEqual([]);
  },
  roundTimeout,
);
