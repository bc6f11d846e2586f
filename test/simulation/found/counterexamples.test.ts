import { expect, test, vi } from "vitest";
import { inFull } from "../../rounds.js";
import { Coverage } from "../judge/coverage.js";
import { judge } from "../judge/judge.js";
import type { Outcome } from "../outcome.js";
import type { JobShape, Scenario } from "../scenario.js";
import { chunkId, documentId, editedId } from "../service/ids.js";
import { simulate } from "../simulate.js";
import { small, still } from "./still.js";

/** Edits at the worst possible moments, and the result of each consistency mode. */
vi.mock("node:fs", async (original) => (await import("../files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("../files.js")).simulatedPromises(await original()));

const job: JobShape = { ...still.job, childChunks: "none", concurrency: 1 };
const pages: Scenario = {
  ...still,
  documents: [{ ...small, chunks: 30 }],
  job,
  service: { ...still.service, pageCap: 10 },
};

/** Between pages 1 and 2, deletes chunk 1 and adds a chunk at the end, so the total stays the same. */
const swap: Scenario["edits"] = {
  ...still.edits,
  kinds: ["replace"],
  most: 1,
  script: [{ before: "/segments?page=2&", deleted: [1], added: [31] }],
};

const of = (consistency: JobShape["consistency"]): Scenario => ({
  ...pages,
  edits: swap,
  job: { ...job, consistency },
});

async function verdictOn(scenario: Scenario) {
  return simulate(scenario, (outcome: Outcome) => {
    const coverage = new Coverage();
    const wrong = judge(outcome, coverage);
    const documents = outcome.through?.reading.documents ?? [];
    const lost = coverage.counts.get(`${scenario.job.consistency}: lost, beyond the promise`) ?? 0;
    return {
      wrong,
      lost,
      said: documents.map(({ row, proof }) => [row.status, proof, row.chunk_count]),
      outcome,
    };
  });
}

test("counts lose a chunk if, between two pages, one is deleted before it and one is added after it", async () => {
  const { wrong, said, lost } = await verdictOn(of("counts"));
  expect({ wrong, said, lost }).toEqual({ wrong: [], said: [["complete", "counts", 30]], lost: 1 });
});

test("two sweeps detect that, and the document is read again", async () => {
  const { wrong, said, lost } = await verdictOn(of("sweeps"));
  expect({ wrong, said, lost }).toEqual({ wrong: [], said: [["complete", "sweeps", 30]], lost: 0 });
});

test("reading from the end also detects it, by the rank of a row", async () => {
  const script = [{ before: "/segments?page=2&", deleted: [1], added: [31] }];
  const { wrong, said, lost } = await verdictOn({ ...of("anchored"), edits: { ...swap, script } });
  expect({ wrong, said, lost }).toEqual({ wrong: [], said: [["complete", "sweeps", 30]], lost: 0 });
});

test("reading from the end detects a delete even if two chunks are added at the same time", async () => {
  // The last page has one row. Before the page before it is read, chunk 11 is deleted and a chunk is inserted before that row.
  const rows = [31, 41, 51, 61, 71].find((last) => editedId("chunk", 1) < chunkId(1, last)) ?? 0;
  expect(rows).toBeGreaterThan(21);
  const script = [{ before: `/segments?page=${(rows - 1) / 10}&`, deleted: [11], added: [rows] }];
  const scenario = { ...of("anchored"), documents: [{ ...small, chunks: rows }], edits: { ...swap, script } };
  const { wrong } = await verdictOn(scenario);
  expect(wrong).toEqual([]);
});

test("a document that grew is read from its end, twice with sweeps, which detects an insert anywhere", async () => {
  const script = [
    { before: "/segments?page=2&", added: [31] },
    { before: "/segments?page=3&", nth: 2, deleted: [11], added: [29.5] },
  ];
  const edits = { ...swap, kinds: ["insert" as const], script };
  const swept = await verdictOn({ ...of("sweeps"), edits });
  expect(swept).toMatchObject({ wrong: [], said: [["complete", "sweeps", 31]], lost: 0 });
  // `anchored` does not promise to detect an insert in the middle: the service never does this, and the answers do not show it
  const once = { ...edits, script: [{ before: "/segments?page=3&", deleted: [11], added: [29.5] }] };
  const anchored = await verdictOn({ ...of("anchored"), documents: [{ ...small, chunks: 31 }], edits: once });
  expect(anchored).toMatchObject({ wrong: [], said: [["complete", "anchored", 31]], lost: 1 });
});

test.runIf(inFull)(
  "a document resumed after a delete and an insert is swept even with counts, and loses nothing",
  async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 6; seed++) {
      const edits = { ...still.edits, kinds: ["replace" as const], most: 1 };
      const kill = { kind: "kill" as const, after: 44, gap: 20 * 3_600_000, edits: 1 };
      const documents = [{ ...small, chunks: 300 }];
      const { wrong, said, lost, outcome } = await verdictOn({
        ...pages,
        seed,
        documents,
        edits,
        interruptions: [kill],
      });
      expect({ wrong, lost, lives: outcome.lives }, `seed ${seed}`).toEqual({ wrong: [], lost: 0, lives: 2 });
      // The second reading finds the same rows if all edits came after the rows that the first process read. Otherwise the document
      // is read once more.
      const readings = outcome.through?.reading.documents[0]?.row.sweeps ?? 0;
      const proof = readings === 3 ? "counts" : "sweeps";
      expect({ said, readings }, `seed ${seed}`).toEqual({
        said: [["complete", proof, 300]],
        readings: proof === "counts" ? 3 : 2,
      });
      seen.add(proof);
    }
    expect(seen).toEqual(new Set(["counts", "sweeps"]));
  },
);

test("a document that existed all the time is listed even if the list changed between two pages", async () => {
  // Newest first. Dropping the newest document moves the first document of page 2 to the end of page 1.
  const script = [{ before: "/documents?page=2&", dropped: [25], addedDocuments: 0 }];
  const documents = Array.from({ length: 25 }, () => ({ ...small, chunks: 1 }));
  for (const addedDocuments of [0, 1]) {
    const edits = { ...swap, script: script.map((one) => ({ ...one, addedDocuments })) };
    const { wrong, outcome } = await verdictOn({ ...pages, documents, edits, job: { ...job, documents: "all" } });
    const listed = outcome.through?.reading.discovery.datasets[0]?.documents ?? [];
    expect(wrong).toEqual([]);
    expect(listed).toHaveLength(24 + addedDocuments);
    for (let index = 0; index < 24; index++) expect(listed).toContain(documentId(index));
  }
});
