import { expect, test } from "vitest";
import { durationFrom } from "../../src/cli/duration.js";

const bounds = { least: 100, most: 3_600_000, text: "from 0.1 s to 1 h" };

test.each([
  ["5", 5_000],
  ["0.1", 100],
  ["30s", 30_000],
  ["1.5m", 90_000],
  ["2 min", 120_000],
  ["1h", 3_600_000],
  [7, 7_000],
])("%j is %i ms", (text, milliseconds) => {
  expect(durationFrom("--timeout", text, bounds)).toBe(milliseconds);
});

test.each(["", "0", "-5", "0.09", "2h", "1e3", "Infinity", "5 apples", "5ms", " 5", "٣"])("%j is refused", (text) => {
  expect(durationFrom("--timeout", text, bounds)).toEqual({
    path: "--timeout",
    message: `got ${JSON.stringify(text)}, expected seconds, or a time such as 30s, 10m or 2h, from 0.1 s to 1 h`,
  });
});
