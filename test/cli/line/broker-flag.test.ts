import { expect, test } from "vitest";
import { brokerFrom } from "../../../src/cli/line/broker-flag.js";

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
  ["BROKER_URL", { BROKER_URL: "host:secret" }, "the variable BROKER_URL holds no address of a broker"],
  ["host:secret", {}, "or the name of a variable that holds one; it begins with redis://"],
  ["", {}, "this is no address of a broker"],
  ["http://me:secret@host", {}, "this is no address of a broker"],
])("%j with %j is refused, and no address is repeated", (given, env, says) => {
  const problem = brokerFrom("--workers", given, env);
  expect(problem).toMatchObject({ path: "--workers", message: expect.stringContaining(says) });
  expect(JSON.stringify(problem)).not.toContain("secret");
});
