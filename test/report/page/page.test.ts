import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Cut, mostCards, mostRows } from "../../../src/report/lost-facts.js";
import { readAssets } from "../../../src/report/page/assets.js";
import { renderPage } from "../../../src/report/page/page.js";
import type { ReportFacts } from "../../../src/report/report-facts.js";
import { anyText, hostileTexts, withTexts } from "./hostile-texts.js";
import { emptyFacts, hostileFacts, sampleFacts } from "./sample-facts.js";

const assets = await readAssets();
const render = (facts: ReportFacts) => renderPage(facts, assets);

const examples = [
  ["a sample", sampleFacts()],
  ["hostile texts", hostileFacts()],
  ["nothing", emptyFacts()],
  ["no content", { ...sampleFacts(), hasContent: false }],
] as const;

test.for(examples)("%s: the same facts give the same page", ([, facts]) => {
  expect(render(facts)).toBe(render(structuredClone(facts)));
});

test.for(examples)("%s: every tag and attribute is one of the templates", ([, facts]) => {
  expect(strangeMarkup(render(facts))).toEqual([]);
});

test("no text of the service gets out of its place, whatever it is", () => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1 }), (texts) => {
      expect(strangeMarkup(render(withTexts(sampleFacts(), texts)))).toEqual([]);
    }),
    { numRuns: 20 },
  );
});

test.for(examples)("%s: one h1, the landmarks, a heading for every section, and no id twice", ([, facts]) => {
  const page = render(facts);
  for (const tag of ["h1", "header", "nav", "main", "footer", "style", "script"]) {
    expect(page.match(new RegExp(`<${tag}[ >]`, "g")), tag).toHaveLength(1);
  }
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(ids).toEqual([...new Set(ids)]);
  for (const [, target] of page.matchAll(/(?:href="#|aria-labelledby=")([^"]*)"/g)) expect(ids).toContain(target);
});

test("the sections stand in their order; without an older run, the lost rows are left out", () => {
  const order = ["verdict", "lost", "freshness", "lengths", "indexing", "changes", "hits", "flaws"];
  const sectionsOf = (facts: ReportFacts) => [...render(facts).matchAll(/<section id="([^"]*)"/g)].map(([, id]) => id);
  expect(sectionsOf(sampleFacts())).toEqual(order);
  expect(sectionsOf(emptyFacts())).toEqual(order.filter((id) => id !== "lost"));
});

test("the policy allows the style and the script of the page and nothing else", () => {
  const page = render(sampleFacts());
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll("&#39;", "'");
  const hashOf = (tag: string) => {
    const text = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page)?.[1] ?? "";
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  };
  expect(policy).toBe(
    `default-src 'none'; style-src ${hashOf("style")}; script-src ${hashOf("script")}; img-src data:; base-uri 'none'; form-action 'none'`,
  );
  expect(page).not.toMatch(/ (style|on\w+|src)="/);
  expect(assets.style).not.toMatch(/url\(|@import/);
});

test("the page stays below 1.95 MB, however many rows there are and however long their texts", () => {
  const facts = filled(sampleFacts());
  for (const texts of [
    hostileTexts,
    ["<".repeat(1000)],
    ["字".repeat(1000)],
    ["plain words, again and again. ".repeat(50)],
  ]) {
    expect(Buffer.byteLength(render(withTexts(facts, texts)))).toBeLessThan(1_950_000);
  }
});

/** The facts with as many rows in every table and list as there can be. */
function filled<Facts>(facts: Facts): Facts {
  const fill = (items: readonly unknown[], length: number) =>
    Array.from({ length }, (_, at) => items[at % items.length]);
  const grown = (value: unknown, key: string): unknown => {
    if (Array.isArray(value))
      return ["cards", "warnings", "drift"].includes(key) ? fill(value, key === "cards" ? mostCards : mostRows) : value;
    if (typeof value !== "object" || value === null) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, grown(part, name)]));
    const { rows, total } = inner as Partial<Cut<unknown>>;
    return Array.isArray(rows) && total !== undefined
      ? { ...inner, rows: fill(rows, mostRows), total: 1_000_000 }
      : inner;
  };
  return grown(facts, "") as Facts;
}

/** What of a page is neither a tag that a template could have written nor text without angle brackets. */
function strangeMarkup(page: string): readonly string[] {
  const rest = withoutOwn(page).replace(
    /<\/?[a-z][a-z0-9]*(?: [a-zA-Z][a-zA-Z0-9-]*(?:="[^"<>]*")?)*\/?>|^<!doctype html>/g,
    "",
  );
  return rest.match(/.{0,40}[<>].{0,40}/g) ?? [];
}

/** A page without its own style and script. */
function withoutOwn(page: string): string {
  return page.replace(assets.style, "").replace(assets.script, "");
}
