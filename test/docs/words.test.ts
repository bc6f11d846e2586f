import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Words that make a text hard to read; each has a simpler alternative. */
const dropped = /\b(nobody|whoever|anew|in vain|is told)\b/i;

const filesIn = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

/** The TypeScript comments in a text, one entry per line. */
const commentsOf = (text: string) =>
  text.split("\n").flatMap((line) => /^\s*\/?\*.*|(?<=(^|\s))\/\/ .*/.exec(line)?.[0] ?? []);

test("comments and pages do without words that have a plainer one", () => {
  const pages = [...filesIn("docs", ".md"), "README.md", "CONTRIBUTING.md"];
  const lines = [
    ...filesIn("src", ".ts").flatMap((path) => commentsOf(readFileSync(path, "utf8")).map((line) => [path, line])),
    ...pages.flatMap((path) =>
      readFileSync(path, "utf8")
        .split("\n")
        .map((line) => [path, line]),
    ),
  ];
  expect(lines.length).toBeGreaterThan(8_000);
  expect(lines.filter(([, line = ""]) => dropped.test(line))).toEqual([]);
});
