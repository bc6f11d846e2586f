import { readdirSync, readFileSync } from "node:fs";

/** The user documentation, README.md first. */
export const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
];

/** All pages in one text. */
export const documentation = pages.map((page) => readFileSync(page, "utf8")).join("\n");

/** A fenced code block on a page. */
export interface Block {
  readonly page: string;
  /** The line number of the block's opening fence, from 1. */
  readonly line: number;
  /** The first word after the opening fence; empty if there is none. */
  readonly language: string;
  readonly text: string;
}

/** Every code block of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(page, "utf8");
  return [...text.matchAll(/^```(\S*).*\n([\s\S]*?)^```$/gm)].map(({ index, 1: language = "", 2: code = "" }) => ({
    page,
    line: text.slice(0, index).split("\n").length,
    language,
    text: code,
  }));
}

/** Every code block of every page. */
export const blocks = pages.flatMap(blocksOf);

/** The location of a block, for messages. */
export const placeOf = ({ page, line }: Block): string => `${page}:${line}`;

/** The lines below a heading of a page, up to the next heading. */
export function linesBelow(page: string, heading: string): readonly string[] {
  const lines = readFileSync(page, "utf8").split("\n");
  const first = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading) + 1;
  const length = lines.slice(first).findIndex((line) => /^#+ /.test(line));
  return lines.slice(first, length < 0 ? undefined : first + length);
}

/** The cells of every table row below a heading of a page. */
export const tableBelow = (page: string, heading: string): readonly (readonly string[])[] =>
  linesBelow(page, heading)
    .filter((line) => /^\| (?!---)/.test(line))
    .map((line) => line.slice(2, -2).split(" | "));

/** The names in backquotes that start the list items below a heading of a page. */
export const namesBelow = (page: string, heading: string): readonly string[] =>
  linesBelow(page, heading).flatMap((line) => {
    const [, names = ""] = /^- (`.*?`): /.exec(line) ?? [];
    return [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  });
