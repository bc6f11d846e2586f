import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDump } from "../../src/dump/open-dump.js";
import { StopError } from "../../src/errors.js";
import type { Job } from "../../src/job/job.js";
import { planJob } from "../../src/plan/plan-job.js";
import { checkWishes } from "../../src/restore/copy/plan-copy.js";
import { runJob } from "../../src/run/run-job.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import type { Behaviour, RequestRecord } from "../servers/behaviour.js";
import type { ChunkRecord } from "../servers/json.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store, type TestDocument } from "../servers/store.js";
import { jobFor, testFolder } from "./job-for.js";
import { readJsonl } from "./read-dump.js";

const indexed = 1_741_267_200;

/** A document as indexed, with the details that a recent service reports. */
function untouched(seed: number, chunks: number): TestDocument {
  const document = makeDocument({ chunks, seed, childrenPerChunk: 1, docForm: "hierarchical_model" });
  for (const chunk of document.chunks) {
    Object.assign(chunk, {
      enabled: true,
      disabled_at: null,
      disabled_by: null,
      updated_by: null,
      status: "completed",
    });
    Object.assign(chunk, { created_at: indexed, indexing_at: indexed + 1, completed_at: indexed + 2 });
  }
  for (const children of document.children.values()) for (const child of children) child.type = "automatic";
  document.details = { id: document.id, name: document.name };
  return document;
}

function worked(seed: number, work: (chunk: ChunkRecord, document: TestDocument) => void, chunks = 3): TestDocument {
  const document = untouched(seed, chunks);
  const [chunk] = document.chunks;
  if (chunk) work(chunk, document);
  return document;
}

/** Unedited documents, and one document for each kind of evidence of an edit. */
function makeDocuments() {
  const edited = [
    worked(1, (chunk) => Object.assign(chunk, { updated_by: "a person" })),
    worked(2, (chunk) => Object.assign(chunk, { disabled_by: "a person" })),
    worked(3, (chunk) => Object.assign(chunk, { enabled: false })),
    worked(4, (chunk) => Object.assign(chunk, { created_at: indexed + 100, completed_at: indexed + 101 })),
    worked(5, ({ id }, { children }) => Object.assign(children.get(id)?.[0] ?? {}, { type: "customized" })),
  ];
  return { edited, others: [untouched(6, 1), untouched(7, 105), untouched(8, 0)] };
}

async function startPlace(documents: readonly TestDocument[]) {
  const store = new Store();
  const dataset = store.addDataset(...documents);
  Object.assign(dataset, { listed: { description: "x" }, metadata: { doc_metadata: [] }, tags: { data: [] } });
  dataset.batches.set("2025", []);
  const behaviour: Behaviour = {};
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const env = { KNOWLEDGE_API_KEY: server.key };
  const jobWith = (details: Job["details"], more: Record<string, unknown> = {}) =>
    jobFor(folder, {
      service: { base_url: server.url, concurrency: 4, retries: 0 },
      datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id), batches: ["2025"] }],
      output: { dir: join(folder, "out"), formats: ["jsonl"] },
      ...{ details, ...more },
    });
  const run = async (job: Job) => {
    server.reset();
    const { folder, manifest } = await runJob(job, { env });
    const sent = manifest.requests.sent;
    const asked = server.requests.flatMap(({ path, query }) => (`${query}` === "metadata=all" ? [path] : []));
    const detailed = asked.map((path) => path.split("/").at(-1));
    const rows = async (kind: string) => (await readJsonl(folder, kind)).map(({ document_id: id }) => id);
    const pages = (id: string) =>
      server.requests.flatMap(({ path, query }) =>
        path.endsWith(`${id}/segments`) ? [new URLSearchParams(`${query}`).get("page")] : [],
      );
    return { folder, manifest, sent, detailed, rows, pages };
  };
  /** Runs until the service refuses the key, which ends the run at once. */
  const breakOff = async (job: Job, isLast: (request: RequestRecord) => boolean) => {
    server.reset();
    behaviour.faults = (request) => (isLast(request) ? { kind: "status", status: 401, body: "json" } : undefined);
    await expect(runJob(job, { env })).rejects.toThrow(StopError);
    delete behaviour.faults;
  };
  return { server, env, jobWith, run, breakOff };
}

test("details: auto asks for the settings of datasets, and for details of edited documents only", async () => {
  const { edited, others } = makeDocuments();
  const { jobWith, run, env } = await startPlace([...others, ...edited]);
  const ids = edited.map(({ id }) => id);
  const [none, auto, all] = [
    await run(await jobWith(false)),
    await run(await jobWith("auto")),
    await run(await jobWith(true)),
  ];
  expect([none.detailed, auto.detailed.sort(), all.detailed.length]).toEqual([[], ids.toSorted(), 8]);
  expect([auto.sent - none.sent, all.sent - none.sent]).toEqual([3 + 5, 3 + 8]);
  expect(auto.manifest).toMatchObject({ counts: { datasets: 1, document_details: 5 }, options: { details: "auto" } });
  expect(await auto.rows("document_details")).toEqual(ids);
  expect(await verifyRun(auto.folder)).toMatchObject({ status: "sound", findings: [] });

  const planned = await planJob(await jobWith("auto"), { env });
  expect(planned.requests.this_job).toBe(auto.sent);
  const dump = await openDump(auto.folder, "nothing was copied");
  expect(() => checkWishes(dump, { documents: [] })).toThrow(
    expect.objectContaining({
      problems: [
        {
          path: "",
          message: "it has details of edited documents only: run the job with details: true; a copy needs the settings",
        },
      ],
    }),
  );
});

test("a resumed run knows of edits that an earlier process read", async () => {
  const long = worked(1, (chunk) => Object.assign(chunk, { updated_by: "a person" }), 650);
  const { jobWith, run, breakOff, server } = await startPlace([long, untouched(2, 3)]);
  const service = { base_url: server.url, concurrency: 1, retries: 0 };
  const job = await jobWith("auto", { child_chunks: "none", consistency: "counts", service });
  await breakOff(job, ({ path, query }) => path.includes(long.id) && `${query}`.includes("page=6"));
  const resumed = await run(job);
  expect(resumed.pages(long.id).slice(0, 3)).toEqual(["6", "7", "1"]); // a resumed document is swept too
  expect([resumed.detailed, await resumed.rows("document_details")]).toEqual([[long.id], [long.id]]);
  const undisturbed = await run(job);
  const texts = [resumed, undisturbed].map(({ folder }) => readFile(join(folder, "document_details.jsonl"), "utf8"));
  const [first, second] = await Promise.all(texts);
  expect(first).toBe(second);
});

test("a resumed run has the details already, unless it is to read others", async () => {
  const { edited, others } = makeDocuments();
  const { jobWith, run, breakOff } = await startPlace([...others, ...edited]);
  const job = await jobWith("auto");
  const breakAtTheEnd = () => breakOff(job, ({ path, nth }) => path.endsWith("/indexing-status") && nth > 0);
  await breakAtTheEnd();
  expect((await run(job)).detailed).toEqual([]);
  await breakAtTheEnd();
  const all = await run(await jobWith(true));
  expect([all.detailed.length, all.manifest.counts]).toEqual([8, expect.objectContaining({ document_details: 8 })]);
});
