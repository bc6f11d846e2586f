import { describe, expect, it } from "vitest";
import { gatherVerdict, verificationFacts } from "../../../src/report/facts/verdict.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows } from "../../dump/formats/stage.js";
import { child, chunk, document, info } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";
import { gathered } from "./gather.js";

const original = (document_id: string, verdict: string) => ({
  ...{ dataset_id: "d", document_id, name: null, mime_type: null, bytes: 0, expected_bytes: null, verdict },
  ...{ attachment_id: null, chunk_id: null, file_id: null },
  ...(verdict === "complete"
    ? { reason: null, path: `originals/${document_id}/file`, sha256: "0".repeat(64) }
    : { reason: "gone", path: null, sha256: null }),
});

/** A partial run of two datasets. */
async function partialDump(): Promise<string> {
  const tables = {
    ...noRows,
    chunks: [chunk("a", "1"), chunk("a", "2"), chunk("b", "3")],
    child_chunks: [child("a", "1", "k")],
    documents: [
      document("a", 2, 1),
      document("b", 1, 0, { status: "unstable", total: 2, error: "it moved" }),
      document("x", 0, 0, { dataset_id: "e", status: "failed", total: null, error: "e".repeat(400) }),
    ],
    document_info: [info("b", { dataset_name: "Books", name: "B" })],
  };
  const options = { datasets: [{ id: "d", keyword: "word" }, { id: "e" }] };
  const manifest = {
    warnings: ["first warning", "w".repeat(600)],
    drift: { "chunks.a": 1, "chunks.b": 3 },
    originals: [original("a", "missing"), original("b", "complete")],
  };
  return writeDump(await plainFolder(), tables, { options, manifest });
}

const verdictOf = (folder: string, content = true) => gathered(folder, gatherVerdict, { content });

describe("the verdict", () => {
  it("has what a partial run holds and lacks, with names", async () => {
    const folder = await partialDump();
    const { files, incomplete, datasets, ...facts } = await verdictOf(folder);
    expect(facts).toEqual({
      ...{ job: "test", run_id: "20250306T132000000Z", status: "partial", tool_version: "1.0.0" },
      ...{ base_url: "https://kb.example.com/v1", started_at: Date.UTC(2025, 2, 6, 13, 20) },
      finished_at: Date.UTC(2025, 2, 6, 13, 20, 1, 250),
      documents: { complete: 1, unstable: 1, failed: 1 },
      ...{
        chunks: 3,
        child_chunks: 1,
        reads_children: true,
        indexing_status: 0,
        originals: { missing: 1, complete: 1 },
      },
      ...{ warnings: ["first warning", `${"w".repeat(500)}…`], warning_count: 2 },
      drift: [
        { field: "chunks.b", count: 3 },
        { field: "chunks.a", count: 1 },
      ],
      ...{ drift_count: 4, filtered_datasets: 1 },
    });
    expect(incomplete).toEqual({
      rows: [
        {
          ...{ dataset_id: "d", document_id: "b", dataset_name: "Books", document_name: "B" },
          ...{ status: "unstable", total: 2, chunks: 1, error: "it moved" },
        },
        {
          ...{ dataset_id: "e", document_id: "x", dataset_name: null, document_name: null },
          ...{ status: "failed", total: null, chunks: 0, error: "e".repeat(300) },
        },
      ],
      total: 2,
      query: expect.stringMatching(/^kbdump sql /),
    });
    expect(datasets.rows).toEqual([
      { dataset_id: "d", dataset_name: "Books", documents: 2, incomplete: 1, chunks: 3, child_chunks: 1 },
      { dataset_id: "e", dataset_name: null, documents: 1, incomplete: 1, chunks: 0, child_chunks: 0 },
    ]);
    expect(files.find(({ path }) => path === "chunks.jsonl")).toMatchObject({ rows: 3, sha256: expect.any(String) });
  });

  it("has no text of the service without content", async () => {
    const text = JSON.stringify(await verdictOf(await partialDump(), false));
    for (const secret of ["Books", '"B"', "it moved", "eee", 'warning"', "www", "chunks.a"])
      expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toMatchObject({ warning_count: 2, drift_count: 4, warnings: [], drift: [] });
  });

  it("of a run of nothing has zeroes", async () => {
    const { documents, incomplete, datasets } = await verdictOf(await writeDump(await plainFolder(), noRows));
    expect([documents, incomplete.total, datasets.total]).toEqual([{ complete: 0, unstable: 0, failed: 0 }, 0, 0]);
  });
});

it("a verification is reported in sentences, and without content as a number", async () => {
  const tables = { ...noRows, chunks: [chunk("a", "1"), chunk("a", "1")], documents: [document("a", 2, 0)] };
  const verification = await verifyRun(await writeDump(await plainFolder(), tables));
  const reported = verificationFacts(verification, true);
  expect(reported).toMatchObject({ status: "differences", finding_count: verification.finding_count, files: 5 });
  expect(reported.findings[0]).toMatch(/^chunks\.jsonl: /);
  expect(verificationFacts(verification, false)).toEqual({ ...reported, findings: [], notes: [] });
});
