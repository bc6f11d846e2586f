import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { namesBelow } from "./documentation.js";

const foldersIn = (path: string) =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

test("the folders of test are those of src, and those that CONTRIBUTING.md describes", () => {
  const described = namesBelow("CONTRIBUTING.md", "The map");
  expect(foldersIn("test").filter((name) => ![...foldersIn("src"), ...described].includes(name))).toEqual([]);
});
