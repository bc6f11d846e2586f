import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { readAssets } from "../../../src/report/page/page.js";
import { renderReport } from "../../../src/report/render-report.js";
import { tablesOf, twoDumps } from "../../compare/diff/dumps.js";
import { noRows } from "../../dump/formats/stage.js";
import { inFull } from "../../rounds.js";
import { testFolder } from "../../run/job-for.js";
import { chunk, document, info } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";
import { documentOf, hostileRuns, reportNames, reports, sample } from "../reports.js";

const assets = await readAssets();

beforeAll(async () => {
  for (const name of reportNames) await reports[name]();
}, 300_000);

test.each(reportNames)("%s: every tag and attribute is one of the templates", async (name) => {
  expect(strangeMarkup(await reports[name]())).toEqual([]);
});

test.each(reportNames)("%s: one h1, the landmarks, and no id twice", async (name) => {
  const page = await reports[name]();
  for (const tag of ["h1", "header", "main", "footer", "style", "script"])
    expect(page.match(new RegExp(`<${tag}[ >]`, "g")), tag).toHaveLength(1);
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(ids).toEqual([...new Set(ids)]);
  for (const [, target] of page.matchAll(/(?:href="#|aria-labelledby=")([^"]*)"/g)) expect(ids).toContain(target);
});

test("the answers come first, then what to do, then the sections with something to do, then the others, folded", async () => {
  const order = async (page: Promise<string>) =>
    [...(await page).matchAll(/<div class="(answer|next)[ "]|(<details class="fold">)|<section id="([^"]*)"/g)]
      .map(([, part, fold, id]) => part ?? (fold && "fold") ?? id)
      .join(" ");
  expect(await order(reports.sample())).toBe(
    "answer answer answer answer next lost stuck errors fold verdict fold hits fold duplicates fold freshness fold lengths fold indexing fold changes fold",
  );
  expect(await order(reports.empty())).toBe(
    "answer answer answer answer next fold verdict fold errors fold hits fold duplicates fold freshness fold lengths fold indexing fold changes fold",
  );
});

test("the next steps are commands that follow from the answers", async () => {
  const commands = async (page: Promise<string>) => {
    const next = /<div class="next">([\s\S]*?)<\/header>/.exec(await page)?.[1] ?? "";
    return [...next.matchAll(/<code>(.*?)<\/code>/g)].map(([, command]) =>
      command?.replace(/\d{8}T\d{9}Z/g, "RUN").replace(/ --out \S+/, ""),
    );
  };
  expect(await commands(reports.sample())).toEqual(["kbdump restore test@RUN", "kbdump status test --watch"]);
  expect(await commands(reports.empty())).toEqual([expect.stringMatching(/^kbdump report test --against test/)]);
});

test("the policy allows the style and the script of the page and nothing else", async () => {
  const page = await reports.sample();
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

test.runIf(inFull)(
  "the page of many long texts, each five times as long when escaped, stays below 2 MB",
  async () => {
    const texts = Array.from({ length: 10 }, (_, at) => `${at}${"&\"'<>".repeat(400)}`);
    const documents = Array.from({ length: 30 }, (_, at) => documentOf(texts, at + 1));
    const { html } = await renderReport({ ...(await hostileRuns(await testFolder(), documents)), verify: false });
    expect(Buffer.byteLength(html)).toBeGreaterThan(400_000);
    expect(Buffer.byteLength(html)).toBeLessThan(1_950_000);
  },
  240_000,
);

test.runIf(inFull)(
  "without content there is no name, no text and no account",
  async () => {
    const request = { ...(await sample(await testFolder())), verify: false };
    const [shown, bare] = [await renderReport(request), await renderReport({ ...request, content: false })];
    const texts = ["Handbook.pdf", "Company knowledge", "Itonaga", "The input is too long"];
    for (const text of texts) {
      expect(shown.html, text).toContain(text);
      expect(bare.html, text).not.toContain(text);
    }
    expect(bare.html).toContain("without any text of the service");
  },
  180_000,
);

test("without content, a text of digits is not shown, either", async () => {
  const [phone, error] = ["491701234567", "4711"];
  const rows = ["a", "b"].map((id) => chunk("d", id, { content: phone, error, status: "error" }));
  const [folder] = await twoDumps(tablesOf(rows), tablesOf(rows));
  const [shown, bare] = [
    await renderReport({ folder, verify: false }),
    await renderReport({ folder, verify: false, content: false }),
  ];
  expect(shown.html).toContain(phone);
  expect(bare.html).not.toContain(phone);
  expect(bare.html).not.toContain(error);
});

test("without batches, a stuck document makes another run the next step, because status needs a batch", async () => {
  const tables = { ...tablesOf([chunk("d", "a")]), document_info: [info("d", { indexing_status: "indexing" })] };
  const [folder] = await twoDumps({ ...noRows, ...tables }, { ...noRows, ...tables });
  const { html } = await renderReport({ folder, verify: false });
  expect(html).toContain("1 not indexed");
  expect(html).toMatch(/<code>kbdump run \S+( --out [^<]*)?<\/code>/);
  expect(html).not.toContain("kbdump status");
});

test("the reason of a failed document and a warning begin with the cause; the long URL comes last", async () => {
  const request = `GET https://kb.example.com/v1/datasets/${"7".repeat(300)}/segments?page=1&limit=100`;
  const error = `${request}: 400 provider_not_initialize no model`;
  const documents = [document("d", 0, 0, { status: "failed", total: null, error })];
  const warnings = [`document d failed: ${error}`];
  const folder = await writeDump(
    await testFolder(),
    { ...noRows, documents },
    { manifest: { status: "partial", warnings } },
  );
  const { html } = await renderReport({ folder, verify: false });
  expect(html).toMatch(/<td[^>]*>(<[^>]*>)*400 provider_not_initialize no model \(GET https:/);
  expect(html).toContain("document d failed: 400 provider_not_initialize no model (GET https:");
});

/** Markup on the page that no template could have written. */
function strangeMarkup(page: string): readonly string[] {
  const rest = page
    .replace(assets.style, "")
    .replace(assets.script, "")
    .replace(/<\/?[a-z][a-z0-9]*(?: [a-zA-Z][a-zA-Z0-9-]*(?:="[^"<>]*")?)*\/?>|^<!doctype html>/g, "");
  return rest.match(/.{0,40}[<>].{0,40}/g) ?? [];
}
