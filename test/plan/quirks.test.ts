import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { inFull } from "../rounds.js";
import type { Behaviour, RequestRecord } from "../servers/behaviour.js";
import type { Fault } from "../servers/faults.js";
import { makeDocument, type TestDocument } from "../servers/store.js";
import { startPlace } from "./planning.js";

const plain = () => [makeDocument({ chunks: 130, seed: 1 }), makeDocument({ chunks: 2, seed: 2 })];
const hierarchical = (more: object = {}) => [
  makeDocument({ chunks: 12, docForm: "hierarchical_model", childrenPerChunk: 3, ...more }),
];
const differing = () => {
  const documents = hierarchical();
  for (const chunk of documents[0]?.chunks ?? []) chunk.child_chunks = [{ id: "another" }];
  return documents;
};
const html: Fault = { kind: "status", status: 404, body: "html" };
const noLists = ({ path }: RequestRecord) => (path.endsWith("/child_chunks") ? html : undefined);
const uncompressed = "compression: no answer was compressed";

type Case = [expected: readonly string[], behaviour: Behaviour, documents: () => TestDocument[]];

const cases: Case[] = [
  [[uncompressed], {}, plain],
  [[], { gzip: true }, plain],
  [["page_cap: at most 20 rows per page"], { gzip: true, pageCap: 20 }, plain],
  [["paging: page 1 holds everything"], { gzip: true, paging: "ignored" }, plain],
  [["paging: every page repeats page 1"], { gzip: true, paging: "same-page" }, plain],
  [["embedded_children: agree with the child lists"], { gzip: true }, hierarchical],
  [["embedded_children: differ from the child lists in 1 document"], { gzip: true }, differing],
  [[], { gzip: true }, () => hierarchical({ embedChildren: false })],
];

test.each(cases)("%j", async (expected, behaviour, documents) => {
  const { plan } = await startPlace(documents(), behaviour);
  const { quirks } = await plan();
  expect(quirks.map(({ name, finding }) => `${name}: ${finding}`)).toEqual(expected);
  for (const { meaning } of quirks) expect(meaning).not.toBe("");
});

test("a service without child lists is named with what to do", async () => {
  const { plan } = await startPlace(plain(), { gzip: true, faults: noLists });
  const { quirks, status } = await plan();
  expect(status).toBe("partial");
  expect(quirks).toEqual([
    {
      name: "child_lists",
      finding: expect.stringMatching(/: 404 .*; an older service has no child lists/),
      meaning: "documents fail unless the job says child_chunks: none",
    },
  ]);
});

test("a page that cannot be rendered says nothing about child lists: a run reads it in pieces", async () => {
  const broken: Fault = { kind: "status", status: 400, code: "invalid_param", message: "year 20000 is out of range" };
  const { plan } = await startPlace([makeDocument({ chunks: 250 })], {
    gzip: true,
    faults: ({ query }) => (query.startsWith("page=3&limit=100") ? broken : undefined),
  });
  expect(await plan()).toMatchObject({ status: "complete", quirks: [], counts: { chunks: 250 } });
});

test("without child lists in the plan, nothing is said about embedded children", async () => {
  const { plan } = await startPlace(hierarchical(), { gzip: true });
  expect((await plan({ job: { child_chunks: "none" } })).quirks).toEqual([]);
});

test.runIf(inFull)("if no sampled document has child lists, all others fail too", async () => {
  const documents = Array.from({ length: 103 }, (_, at) => makeDocument({ chunks: 1, seed: at + 1 }));
  const { plan } = await startPlace(documents, { gzip: true, faults: noLists });
  expect((await plan()).counts).toMatchObject({ documents: 103, documents_failed: 103 });
});

test.runIf(inFull)("a service that throttles is named, and the plan is still made", async () => {
  const throttled: Fault = { kind: "status", status: 429, headers: { "retry-after": "0" } };
  const { plan, server } = await startPlace(plain(), {
    gzip: true,
    faults: ({ path }, nth) => (path.endsWith("/child_chunks") && nth === 0 ? throttled : undefined),
  });
  const made = await plan({ service: { base_url: server.url, retries: 3 } });
  expect(made.quirks).toMatchObject([{ name: "throttling" }]);
  expect(made.asked.throttled).toBeGreaterThan(0);
  expect(made.warnings).toEqual([expect.stringMatching(/^\d+ retried requests? in this plan/)]);
});

test("docs/commands.md lists the names", async () => {
  const page = await readFile("docs/commands.md", "utf8");
  for (const name of ["page_cap", "paging", "embedded_children", "child_lists", "compression", "throttling"])
    expect(page).toMatch(new RegExp(`^- \`${name}\`: `, "m"));
});
