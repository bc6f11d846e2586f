import { expect, it } from "vitest";
import { targetOf } from "../../src/client/retry.js";

it.each([
  [[], "/a%20b"],
  [[["page", "1"]], "/a%20b?page=1"],
  [
    [
      ["status", "a b"],
      ["status", "c&d=e"],
    ],
    "/a%20b?status=a%20b&status=c%26d%3De",
  ],
  [[["keyword", "ü+/?#%😀"]], "/a%20b?keyword=%C3%BC%2B%2F%3F%23%25%F0%9F%98%80"],
  [[["keyword", ""]], "/a%20b?keyword="],
  [[["keyword", "half \ud83d"]], "/a%20b?keyword=half%20%EF%BF%BD"], // a URL cannot hold a lone surrogate; it must not end the run
] as const)("the target of the query %j is %s", (query, expected) => {
  expect(targetOf({ path: "/a%20b", query })).toBe(expected);
});
