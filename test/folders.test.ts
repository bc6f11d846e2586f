import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const foldersIn = (path: string) =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

test("the folders of test are those of src, and those that CONTRIBUTING.md describes", () => {
  const rows = readFileSync("CONTRIBUTING.md", "utf8").matchAll(/^\| (`[^|]+`) \|/gm);
  const described = [...rows].flatMap(([, cell = ""]) => [...cell.matchAll(/`([\w/]+)`/g)].map(([, name]) => name));
  expect(foldersIn("test").filter((name) => ![...foldersIn("src"), ...described].includes(name))).toEqual([]);
});
