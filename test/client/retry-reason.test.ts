import { expect, test } from "vitest";
import { retryReason } from "../../src/client/retry.js";
import { RetryError } from "../../src/errors.js";

const coded = (code: string) => Object.assign(new Error(code), { code });

test.each([
  ["503", new RetryError("x", { status: 503 })],
  ["403", new RetryError("x", { status: 403, throttled: true })],
  ["broken answer", new RetryError("x", { status: 200 })],
  ["broken answer", new RetryError("x")],
  ["timeout", new RetryError("x", { cause: coded("TIMEOUT") })],
  ["timeout", new RetryError("x", { cause: coded("UND_ERR_CONNECT_TIMEOUT") })],
  ["connection", new RetryError("x", { cause: coded("ECONNRESET") })],
])("%s", (reason, error) => {
  expect(retryReason(error)).toBe(reason);
});
