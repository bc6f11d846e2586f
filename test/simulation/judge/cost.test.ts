import { expect, test } from "vitest";
import type { SendEnd } from "../calls.js";
import { fewestTries } from "./cost.js";

test.each<[number, readonly SendEnd[]]>([
  [1, ["other"]],
  [2, ["other", "other"]],
  [1, ["refused", "other"]],
  [1, ["refused", "refused", "refused", "other"]],
  [1, ["refused", "refused", "refused", "refused"]],
  [2, ["refused", "refused", "refused", "refused", "other"]],
  [2, ["other", "refused", "refused"]],
  [1, ["away", "away", "other"]],
  [1, ["refused", "away", "refused", "other"]],
])("%i: the tries that %j are at the least", (tries, ends) => {
  expect(fewestTries(ends)).toBe(tries);
});
