import { expect, test } from "vitest";
import { waitingText, waitingTime } from "../../src/terminal/waiting-text.js";

test.each([
  [0, 0, undefined],
  [3, undefined, undefined],
  [3, 90_001, undefined],
  [3, 90_000, 10_000],
  [0, 50_000, undefined],
])("%i in flight, silent since %s: %s", (inFlight, silentSince, expected) => {
  expect(waitingTime({ inFlight, silentSince }, 100_000)).toBe(expected);
});

test.each([
  [10_000, 1, "waiting 10 s for 1 answer"],
  [59_499, 2, "waiting 59 s for 2 answers"],
  [59_500, 3, "waiting 1 min 0 s for 3 answers"],
])("%i ms for %i: %s", (milliseconds, answers, text) => expect(waitingText(milliseconds, answers)).toBe(text));
