import { join } from "node:path";
import { expect, test } from "vitest";
import { openDump } from "../../../src/dump/open-dump.js";
import { restoreLost } from "../../../src/restore/lost/restore-lost.js";
import { exitCodeOf } from "../../../src/restore/result.js";
import { runJob } from "../../../src/run/run-job.js";
import { inFull } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { restoring } from "../restoring.js";
import { startFlaky } from "./flaky-service.js";
import { datasetId, smallDatasets, uuid } from "./small-target.js";

const [open, closed] = [uuid(2), uuid(3)];

/** Two documents with an edited and a disabled chunk each. Then one is disabled or archived, and the other is indexed again. */
async function lostBeside(status: "disable" | "archive") {
  const folder = await testFolder();
  const state = { indexing_status: "completed", enabled: true, archived: false };
  const service = await startFlaky(smallDatasets([{}, {}, {}], { documents: [state, state] }), {
    clock: () => new Date(),
    indexingSeconds: 0,
  });
  const job = await jobFor(folder, {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: [open, closed] }],
    output: { dir: join(folder, "out"), formats: ["jsonl", "duckdb"] },
  });
  const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } });
  await run();
  for (const [document, offset] of [[open, 0] as const, [closed, 100_000] as const]) {
    const path = (number: number) => `/datasets/${datasetId}/documents/${document}/segments/${uuid(offset + number)}`;
    await service.byOthers("POST", path(101), { segment: { content: "edited" } });
    await service.byOthers("POST", path(102), { segment: { enabled: false } });
  }
  const close = () =>
    service.byOthers("PATCH", `/datasets/${datasetId}/documents/status/${status}`, { document_ids: [closed] });
  const { folder: backedUp } = await run();
  return { service, close, backedUp, restore: (more = {}) => restoreLost(restoring(backedUp, service.key, more)) };
}

test.runIf(inFull).each([
  ["disable", "It is disabled. Enable it first."],
  ["archive", "It is archived. Take it out of the archive first."],
] as const)("a document that takes no writes is refused only if it lost rows: %s", async (status, refused) => {
  const { service, close, restore } = await lostBeside(status);
  await close();
  service.store.reindex(open, { seconds: 0 });
  const first = await restore();
  expect([first.status, exitCodeOf(first)]).toEqual(["proved", 0]);
  expect(first.plan.documents.map((document) => document.refused)).toEqual([null, null]);

  service.store.reindex(closed, { seconds: 0 });
  const second = await restore();
  expect([second.status, exitCodeOf(second)]).toEqual(["partial", 3]);
  expect(second.plan.documents.map((document) => document.refused)).toEqual([null, refused]);
  expect(service.store.read(closed).chunks.map(({ row }) => row.content)).toEqual(["chunk 1", "chunk 2", "chunk 3"]);
});

test.runIf(inFull)("a document that was deleted is refused, with the command that makes it again", async () => {
  const { service, restore } = await lostBeside("disable");
  service.store.removeDocument(closed);
  service.store.reindex(open, { seconds: 0 });
  const restored = await restore();
  expect([restored.status, exitCodeOf(restored)]).toEqual(["partial", 3]);
  expect(restored.plan.documents.map(({ refused }) => refused)).toEqual([null, expect.stringContaining("kbdump copy")]);
});

test.runIf(inFull)("the undo and the proof read every list twice, whatever the job of the dump says", async () => {
  const { service, restore, backedUp } = await lostBeside("disable");
  service.store.reindex(open, { seconds: 0 });
  expect((await restore()).status).toBe("proved");
  for (const name of ["before", "after"]) {
    const { manifest } = await openDump(join(`${backedUp}.restore`, name, "latest"), "it is not sound");
    expect(manifest.options.consistency).toBe("sweeps");
  }
  expect((await openDump(backedUp, "it is not sound")).manifest.options.consistency).toBe("anchored");
});
