import { expect, test } from "vitest";
import { brokerFrom, durationFrom } from "../../src/cli/flag-values.js";

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

const url = "redis://me:secret@host:6379/2";

test.each([
  ["the address itself", url, {}],
  ["the name of a variable", "BROKER_URL", { BROKER_URL: url }],
  ["the name of a variable in lower case", "_broker1", { _broker1: url }],
])("%s is taken for the address of a broker", (_, given, env) => {
  expect(brokerFrom("--workers", given, env)).toBe(url);
});

test.each([
  ["BROKER_URL", {}, "the variable BROKER_URL is not set"],
  ["BROKER_URL", { BROKER_URL: "" }, "the variable BROKER_URL is not set"],
  ["BROKER_URL", { BROKER_URL: "host:secret" }, "the variable BROKER_URL holds no broker address"],
  ["host:secret", {}, "or the name of a variable that holds one; it begins with redis://"],
  ["", {}, "this is not an address of a broker"],
  ["http://me:secret@host", {}, "this is not an address of a broker"],
])("%j with %j is refused, and no address is repeated", (given, env, says) => {
  const problem = brokerFrom("--workers", given, env);
  expect(problem).toMatchObject({ path: "--workers", message: expect.stringContaining(says) });
  expect(JSON.stringify(problem)).not.toContain("secret");
});
