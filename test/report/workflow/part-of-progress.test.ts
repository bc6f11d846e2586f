import { expect, test } from "vitest";
import { emptyReadProgress } from "../../../src/read-progress.js";
import { partOf } from "../../../src/report/render-report.js";

const shareOf = ({ expected, done }: { readonly expected: number; readonly done: number }) => done / expected;

test("a part moves the whole from one end of its span to the other, and shows its step", () => {
  const whole = emptyReadProgress();
  const part = partOf(whole, 0.5, 0.75);
  expect(shareOf(whole)).toBe(0.5);
  part.step = "hashing chunks.jsonl";
  part.expected = 400;
  part.done += 100;
  expect({ ...part }).toEqual({ step: "hashing chunks.jsonl", expected: 400, done: 100 });
  expect([whole.step, shareOf(whole)]).toEqual(["hashing chunks.jsonl", 0.5625]);
  part.expected = 800;
  expect(shareOf(whole)).toBe(0.5625);
  part.done = 900; // more than expected
  expect(shareOf(whole)).toBe(0.75);
  partOf(whole, 0.75, 1);
  expect(shareOf(whole)).toBe(0.75);
});
