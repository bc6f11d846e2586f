import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { JobPlan, Quirk } from "../../src/plan/job-plan.js";
import type { Behaviour, RequestRecord } from "../servers/behaviour.js";
import type { Fault } from "../servers/faults.js";
import { makeDocument, type TestDocument } from "../servers/store.js";
import { startPlace } from "./planning.js";

const quirk = (plan: JobPlan, name: Quirk["name"]) => plan.quirks.find((each) => each.name === name);

const documents = [makeDocument({ chunks: 130, seed: 1 }), makeDocument({ chunks: 2, seed: 2 })];
const many = () => documents;
const hierarchical = (more: object = {}) => [
  makeDocument({ chunks: 12, docForm: "hierarchical_model", childrenPerChunk: 3, ...more }),
];

/** Chunks whose positions collide from the 150th on: 30 in pairs. */
function lateTies(docForm: string, chunks = 310): TestDocument[] {
  const document = makeDocument({ chunks, docForm, childrenPerChunk: 2 });
  for (const [at, chunk] of document.chunks.entries()) chunk.position = at >= 150 && at < 180 ? at - (at % 2) : at;
  return [document];
}

/** 150 chunks of two children each, of which those of one chunk have one position. */
function childTies(docForm: string, tied: number): TestDocument[] {
  const document = makeDocument({ chunks: 150, docForm, childrenPerChunk: 2 });
  for (const [at, chunk] of document.chunks.entries())
    for (const [index, child] of (document.children.get(chunk.id) ?? []).entries())
      child.position = at === tied && tied > 0 ? 1 : index + 1;
  return [document];
}

const only = (suffix: string, fault: Fault) => (request: RequestRecord) =>
  request.path.endsWith(suffix) ? fault : undefined;
const html: Fault = { kind: "status", status: 404, body: "html" };

interface Case {
  readonly name: Quirk["name"];
  readonly finding: string;
  readonly detail: RegExp;
  readonly trouble?: boolean;
  readonly behaviour?: Behaviour;
  readonly documents?: () => TestDocument[];
}

const cases: readonly Case[] = [
  { name: "page_cap", finding: "full", detail: /^100 rows per page \(100 requested, 130 available\)$/ },
  { name: "page_cap", finding: "capped", detail: /^20 rows /, trouble: true, behaviour: { pageCap: 20 } },
  { name: "page_cap", finding: "unknown", detail: /12 chunks/, documents: hierarchical },
  { name: "page_cap", finding: "none", detail: /page 1/, behaviour: { paging: "ignored" } },
  { name: "paging", finding: "normal", detail: /last page/ },
  { name: "paging", finding: "ignored", detail: /everything/, trouble: true, behaviour: { paging: "ignored" } },
  { name: "paging", finding: "repeats", detail: /page 1/, trouble: true, behaviour: { paging: "same-page" } },
  { name: "has_more", finding: "honest", detail: /^correct on \d+ pages$/ },
  { name: "has_more", finding: "absent", detail: /^absent from/, behaviour: { hasMore: "absent" } },
  { name: "has_more", finding: "wrong", detail: /^wrong on/, behaviour: { hasMore: "always-false" } },
  { name: "has_more", finding: "wrong", detail: /^wrong on/, behaviour: { hasMore: "always-true" } },
  { name: "has_more", finding: "wrong", detail: /^wrong on/, behaviour: { hasMore: "rows-equal-limit" } },
  {
    name: "ties",
    finding: "hold",
    detail: /^[1-9]\d* of the \d+ chunks checked.* share a position, and came in the same order/,
  },
  { name: "ties", finding: "move", detail: /another order/, trouble: true, behaviour: { ties: "shuffled" } },
  {
    name: "ties",
    finding: "unseen",
    detail: /^no ties in the 100 chunks checked \(of 310\)$/,
    documents: () => lateTies("text_model"),
  },
  { name: "ties", finding: "none", detail: /^no ties in all 90 chunks$/, documents: () => lateTies("text_model", 90) },
  { name: "ties", finding: "hold", detail: /same order/, documents: () => lateTies("hierarchical_model") },
  {
    name: "ties",
    finding: "move",
    detail: /another order/,
    trouble: true,
    behaviour: { ties: "shuffled" },
    documents: () => lateTies("hierarchical_model"),
  },
  { name: "child_ties", finding: "unknown", detail: /^no ties in the 0 child chunks checked$/ },
  {
    name: "child_ties",
    finding: "unseen",
    detail: /^no ties in the 16 child chunks checked \(of about 300\)$/,
    documents: () => childTies("text_model", 0),
  },
  {
    name: "child_ties",
    finding: "none",
    detail: /^no ties in all 300 child chunks$/,
    documents: () => childTies("hierarchical_model", 0),
  },
  { name: "child_ties", finding: "hold", detail: /same order/, documents: () => childTies("hierarchical_model", 90) },
  {
    name: "child_ties",
    finding: "move",
    detail: /another order/,
    trouble: true,
    behaviour: { ties: "shuffled" },
    documents: () => hierarchical({ childrenPerChunk: 90 }),
  },
  { name: "embedded_children", finding: "agree", detail: /agree with the child lists: 1;/, documents: hierarchical },
  {
    name: "embedded_children",
    finding: "absent",
    detail: /are missing: 1$/,
    documents: () => hierarchical({ embedChildren: false }),
  },
  {
    name: "embedded_children",
    finding: "differ",
    detail: /differ: 1;/,
    trouble: true,
    documents: () => {
      const documents = hierarchical();
      for (const chunk of documents[0]?.chunks ?? []) chunk.child_chunks = [{ id: "another" }];
      return documents;
    },
  },
  { name: "embedded_children", finding: "unknown", detail: /no children/ },
  { name: "child_lists", finding: "present", detail: /were read$/ },
  {
    name: "child_lists",
    finding: "absent",
    detail: /: 404 .*; an older service has no child lists/,
    trouble: true,
    behaviour: { faults: only("/child_chunks", html) },
  },
  { name: "metadata_fields", finding: "absent", detail: /^1 dataset/, behaviour: { faults: only("/built-in", html) } },
  { name: "compression", finding: "none", detail: /no answer/ },
  { name: "compression", finding: "gzip", detail: /gzip/, behaviour: { gzip: true } },
  { name: "throttling", finding: "none", detail: /no request/ },
];

test.each(cases)(
  "$name: $finding ($detail)",
  async ({ name, finding, detail, trouble = false, behaviour, documents: held = many }) => {
    const { plan } = await startPlace(held(), behaviour);
    const found = quirk(await plan(), name);
    expect(found).toMatchObject({ name, finding, trouble });
    expect(found?.detail).toMatch(detail);
    if (trouble) expect(found?.meaning).not.toBe("");
  },
);

test("a service that throttles is named, and the plan is made all the same", async () => {
  const throttled: Fault = { kind: "status", status: 429, headers: { "retry-after": "0" } };
  const { plan, server } = await startPlace(many(), {
    faults: ({ path }, nth) => (path.endsWith("/child_chunks") && nth === 0 ? throttled : undefined),
  });
  const made = await plan({ service: { base_url: server.url, retries: 3 } });
  expect(quirk(made, "throttling")).toMatchObject({ finding: "seen", trouble: true });
  expect(made.asked.throttled).toBeGreaterThan(0);
  expect(made.warnings).toEqual([expect.stringMatching(/^\d+ requests of this plan were retried/)]);
});

test("names are stable, and docs/plan.md lists them with every finding that these tests know", async () => {
  const { plan } = await startPlace(many());
  const names = (await plan()).quirks.map(({ name }) => name);
  expect(names).toEqual([
    "page_cap",
    "paging",
    "has_more",
    "ties",
    "child_ties",
    "embedded_children",
    "child_lists",
    "metadata_fields",
    "compression",
    "throttling",
  ]);
  const page = await readFile("docs/plan.md", "utf8");
  const rowOf = (name: string) =>
    page.split("\n").find((line) => line.startsWith("| `") && line.includes(`\`${name}\``));
  for (const name of names) expect(rowOf(name), name).toBeDefined();
  const found = cases.filter(({ finding }) => finding !== "unknown");
  for (const { name, finding } of found) expect(rowOf(name), name).toContain(`\`${finding}\``);
});
