import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { outlines } from "../../../src/demo/sample/outlines.js";
import { buildDataset } from "../../../src/demo/sample/sample-knowledge.js";
import { startService } from "../../../src/demo/start-service.js";
import { planRestore } from "../../../src/index.js";
import { restoreLost } from "../../../src/restore/lost/restore-lost.js";
import { runJob } from "../../../src/run/run-job.js";
import { inFull } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { writableKnowledge } from "../../servers/writable/writable-knowledge.js";
import { restoring } from "../restoring.js";

const [datasetId, documentId] = ["be707760-4d1d-4f33-b3ad-f9bace31e975", "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0"];
const segments = `datasets/${datasetId}/documents/${documentId}/segments`;

/** A document with manual edits before its first backup (JSONL only), which is then indexed again. */
async function worked(settings: { readonly details: "auto" | boolean; readonly maxCharacters?: number }) {
  const folder = await testFolder();
  const clock = () => new Date();
  const demo = writableKnowledge(
    outlines.map((outline) => buildDataset(outline, clock)),
    clock,
  );
  const service = await startService({ demo });
  onTestFinished(() => service.close());
  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
    const answer = await fetch(`${service.url}/${path}`, { method, headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
  };
  const edits = ["ccad34a6-dae3-48d0-879a-89340a264176", "d5adb765-1e27-4a75-9235-0b758d32a85c"];
  for (const [at, id] of edits.entries())
    await send("POST", `${segments}/${id}`, { segment: { content: `Edit ${at}.` } });
  await send("POST", segments, { segments: [{ content: "Added." }] });
  const off = { segment: { enabled: false } };
  await send("POST", `${segments}/4a22222a-5275-4c20-81b4-e4417c2b180f`, off);
  const child = `${segments}/e92be7fb-acd9-4b3f-9bdc-b55cff4d764b/child_chunks/0cfdb2c1-6819-4a27-9bff-3c9b8bff2089`;
  await send("PATCH", child, { content: "Child." });
  const work = () => {
    const { chunks } = demo.store.read(documentId);
    const rows = chunks.map(({ row, children }) => [
      ...[row.content, row.enabled],
      ...children.filter(({ type }) => type === "customized").map(({ content }) => content),
    ]);
    return rows.map((cells) => JSON.stringify(cells)).sort();
  };
  const job = await jobFor(folder, {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    details: settings.details,
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
  });
  const { folder: backup } = await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } });
  const before = work();
  const { maxCharacters } = settings;
  demo.store.reindex(documentId, { seconds: 0, ...(maxCharacters === undefined ? {} : { maxCharacters }) });
  return {
    ...{ before, work, backup },
    restore: (apply: boolean) => restoreLost(restoring(backup, service.key, { apply })),
    backUpAgain: async () => (await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } })).folder,
  };
}

test.each(["auto", true] as const)(
  "the first backup ever, with details: %s, right before a re-index with the same settings, brings back every manual edit",
  async (details) => {
    const { before, work, restore } = await worked({ details });
    expect(work()).not.toEqual(before);
    const { status, counts, plan, differences } = await restore(true);
    expect({ status, differences }).toEqual({ status: "proved", differences: [] });
    expect(counts).toMatchObject({ chunks_updated: 2, chunks_added: 1, chunks_disabled: 1, children_replaced: 1 });
    expect(plan.documents.flatMap(({ listed }) => listed)).toEqual([]);
    expect(work()).toEqual(before);
    expect((await restore(true)).status).toBe("nothing to restore");
  },
);

test.runIf(inFull)(
  "without details, and after a re-index with another size of chunks, edits without a place need a decision",
  async () => {
    for (const settings of [{ details: false }, { details: "auto", maxCharacters: 60 }] as const) {
      const { restore } = await worked(settings);
      const { plan } = await restore(false);
      const listed = plan.documents.flatMap((document) => document.listed);
      const edited = listed.filter(({ content }) => /^Edit \d\.$/.test(content));
      expect(edited.map(({ why }) => why)).toEqual(["needs your decision", "needs your decision"]);
      const restored = plan.documents.flatMap(({ restores }) => restores).flatMap(({ texts }) => texts?.content ?? []);
      expect(restored).toEqual(settings.details ? ["Added."] : []);
    }
  },
);

test("a newer run without details of the document is named as the reason why edits have no place", async () => {
  const { backup, backUpAgain } = await worked({ details: "auto" });
  const { documents } = await planRestore(backup, { against: await backUpAgain() });
  const edited = documents.flatMap(({ listed }) => listed).filter(({ content }) => /^Edit \d\.$/.test(content));
  expect(edited.map(({ reason }) => reason)).toEqual(
    [1, 2].map(() => expect.stringContaining("the newer run has no details of this document")),
  );
});
