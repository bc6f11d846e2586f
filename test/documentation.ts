import { readdirSync, readFileSync } from "node:fs";

/** The pages that a user reads, README.md first. */
export const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync("docs")
    .sort()
    .map((name) => `docs/${name}`),
];

/** All of them as one text. */
export const documentation = pages.map((page) => readFileSync(page, "utf8")).join("\n");
