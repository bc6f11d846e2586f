import { expect, test } from "vitest";
import { workError } from "../src/errors.js";

const scope = (failure: string): AsyncDisposable => ({
  [Symbol.asyncDispose]: () => Promise.reject(new Error(failure)),
});

test("the error of the work is the one to report, however many scopes fail to end after it", async () => {
  const error = new Error("the work failed");
  const work = async () => {
    await using _outer = scope("the outer scope failed to end");
    await using _inner = scope("the inner scope failed to end");
    throw error;
  };
  expect(workError(await work().catch((thrown: unknown) => thrown))).toBe(error);
});

test("if only the end of a scope fails, that is the error", async () => {
  const work = async () => {
    await using _scope = scope("the scope failed to end");
  };
  expect(String(workError(await work().catch((thrown: unknown) => thrown)))).toBe("Error: the scope failed to end");
});
