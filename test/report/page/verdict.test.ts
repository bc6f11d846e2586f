import { expect, test } from "vitest";
import { renderSection } from "../../../src/report/page/html.js";
import { verdictSection } from "../../../src/report/page/parts/verdict.js";
import type { VerdictFacts } from "../../../src/report/report-facts.js";
import { emptyFacts, sampleFacts } from "./sample-facts.js";

const { verdict } = sampleFacts();
const textOf = (facts: VerdictFacts) =>
  renderSection(verdictSection(facts))
    .toString()
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

test("a partial dump names its incomplete documents, the reasons, and how to read them again", () => {
  const text = textOf(verdict);
  expect(text).toContain("27 of 30 documents were read whole.");
  expect(text).toMatch(/Annual report 2025\.pdf .* failed page 3 of the chunks: 504 Gateway Time-out/);
  expect(text).toMatch(/unstable the total moved from 530 to 533 while it was read 530 533/);
  expect(text).toContain("run the job again with --retry-failed");
});

test("a complete dump has no table of incomplete documents", () => {
  const whole = { ...verdict, status: "complete", documents: { complete: 30, unstable: 0, failed: 0 } } as const;
  const text = textOf({ ...whole, incomplete: emptyFacts().verdict.incomplete });
  expect(text).toContain("All 30 documents were read whole");
  expect(text).not.toContain("--retry-failed");
  const one = { ...whole, documents: { complete: 1, unstable: 0, failed: 0 } };
  expect(textOf(one)).toContain("The one document was read whole: every page of its lists came");
});

test("it holds datasets, files with hashes, originals, warnings and unexpected fields", () => {
  const text = textOf(verdict);
  expect(text).toContain("Customer support 7f0c9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f 12 1 3,020 2,100");
  expect(text).toContain(`chunks.jsonl 6,462 9.4 MB ${verdict.files[0]?.sha256}`);
  expect(text).toContain("26 complete, 3 missing, 1 wrong size");
  expect(text).toContain("The key can write.");
  expect(text).toContain("documents.summary_index_status 30");
});

test("an empty dump says that it found nothing", () => {
  const text = textOf(emptyFacts().verdict);
  expect(text).toContain("The run found no documents.");
  expect(text).toContain("Datasets: none.");
  expect(text).not.toContain("Warnings");
});

test("what verify found: sound, differences with their sentences, or nothing because nobody asked", () => {
  expect(textOf(verdict)).toContain("Sound kbdump read all 6 files of this dump again: hashes, counts and ids agree");
  const findings = Array.from({ length: 30 }, (_, at) => `chunks.jsonl: row ${at} differs`);
  const verification = { status: "differences", finding_count: 42, findings, files: 6, notes: [] } as const;
  const text = textOf({ ...verdict, verification });
  expect(text).toContain("42 differences kbdump read all 6 files");
  expect(text).toContain("chunks.jsonl: row 19 differs");
  expect(text).toContain("22 more differences not shown.");
  expect(textOf({ ...verdict, verification: { ...verification, findings: [] } })).toContain("without content");
  expect(textOf({ ...verdict, verification: undefined })).toContain("Not verified");
});
