import { expect, test } from "vitest";
import { GaveUpError, RetryError, SkipError } from "../../src/errors.js";
import { endsWatch, type Outage, outageAfter } from "../../src/status/watch-status.js";

const givenUp = (status?: number) => new GaveUpError(new RetryError("x", status === undefined ? {} : { status }), 7);
const refused = (status: number, code?: string) => new SkipError("x", { status, ...(code ? { code } : {}) });
const nothing = { service: false, batch: false };
const otherBatch = { service: true, batch: false };
const thisBatch = { service: true, batch: true };

test.each([
  ["nobody there", givenUp(), [true, false, false]],
  ["a page that is not JSON", givenUp(200), [true, false, false]],
  ["a server error", givenUp(503), [false, false, false]],
  ["too many requests", givenUp(429), [false, false, false]],
  ["an unknown batch", refused(404, "not_found"), [true, true, true]],
  ["a batch that may not be read", refused(403, "forbidden"), [true, true, true]],
  ["a page of a proxy", refused(404), [true, true, false]],
  ["a redirect", refused(302), [true, true, false]],
])("%s: before anything was read, before this batch was, and after", (_name, error, ends) => {
  expect([nothing, otherBatch, thisBatch].map((earlier) => endsWatch(error, earlier))).toEqual(ends);
});

test("an outage is reported when it starts, every ten minutes, and when it is over", () => {
  let outage: Outage | undefined;
  const reported: (string | undefined)[] = [];
  for (const [minute, failed] of [false, true, true, ...Array(19).fill(true), false, false, true].entries()) {
    const step = outageAfter(outage, failed, minute * 60_000);
    outage = step.outage;
    if (step.report) reported.push(`${minute} ${step.report}`);
  }
  expect(reported).toEqual(["1 failed", "11 failed", "21 failed", "22 recovered", "24 failed"]);
});
