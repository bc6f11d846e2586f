import { join } from "node:path";
import { expect, test } from "vitest";
import { restoreLost } from "../../../src/restore/lost/restore-lost.js";
import type { RestoreOptions } from "../../../src/restore/lost/restore-options.js";
import { runJob } from "../../../src/run/run-job.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { restoring } from "../restoring.js";
import { type Fault, type Seen, startFlaky } from "./flaky-service.js";
import { datasetId, smallDatasets, uuid } from "./small-target.js";

const [one, other] = [uuid(2), uuid(3)];

/** Two documents that lost two edits each in a re-index, and a restore of one that was interrupted after its first write. */
async function brokenOff({ added = [] }: { readonly added?: readonly string[] } = {}) {
  const folder = await testFolder();
  let faultOf: (seen: Seen) => Fault | undefined = () => undefined;
  const service = await startFlaky(smallDatasets([{}, {}, {}], { documents: [{}, {}] }), {
    clock: () => new Date(),
    faultOf: (seen) => faultOf(seen),
  });
  const job = await jobFor(folder, {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: [one, other] }],
    output: { dir: join(folder, "out"), formats: ["jsonl", "duckdb"] },
  });
  const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } });
  await run();
  for (const [document, offset] of [[one, 0] as const, [other, 100_000] as const])
    for (const number of [1, 2]) {
      const path = `/datasets/${datasetId}/documents/${document}/segments/${uuid(offset + 100 + number)}`;
      await service.byOthers("POST", path, { segment: { content: `edited ${number}` } });
    }
  for (const content of added)
    await service.byOthers("POST", `/datasets/${datasetId}/documents/${other}/segments`, { segments: [{ content }] });
  const { folder: backedUp } = await run();
  for (const document of [one, other]) service.store.reindex(document, { seconds: 0 });

  const restore = (documents: readonly string[], more: Partial<RestoreOptions> = {}) =>
    restoreLost(restoring(backedUp, service.key, { documents, ...more }));
  const broken = new AbortController();
  faultOf = ({ method }) => {
    if (method !== "GET") broken.abort(new Error("broken off"));
    return undefined;
  };
  await expect(restore([one], { signal: broken.signal })).rejects.toThrow("broken off");
  faultOf = () => undefined;
  const texts = (document: string) => service.store.read(document).chunks.map(({ row }) => row.content);
  const failWith = (fault: typeof faultOf) => {
    faultOf = fault;
  };
  return { restore, texts, failWith, service };
}

test("a restore continues with other documents, each with an undo from before its first write", async () => {
  const { restore, texts } = await brokenOff();
  const result = await restore([other]);
  expect([result.status, result.differences]).toEqual(["proved", []]);
  expect([texts(one), texts(other)]).toEqual([
    ["edited 1", "chunk 2", "chunk 3"],
    ["edited 1", "edited 2", "chunk 3"],
  ]);
  expect(result.warnings).toEqual([
    expect.stringMatching(/before.runs.* is part of the undo, too: it has the documents/),
  ]);
});

test("an interrupted restore keeps its undo, although another document is restored in between", async () => {
  const { restore, texts } = await brokenOff();
  const [undo] = (await restore([other])).warnings.map((warning) => warning.split(" is part of")[0]);
  const broken = (await restore([other])).undo;
  const { status, undo: first } = await restore([one]);
  expect([status, texts(one)]).toEqual(["proved", ["edited 1", "edited 2", "chunk 3"]]);
  expect(first).toBe(broken);
  expect(first).not.toBe(undo);
  const { journal } = await restore([one]);
  expect(journal).toBeNull(); // null, because the restore before ended
});

test("a finished restore is not proved again with an interrupted one, so people may edit its document", async () => {
  const { restore, texts, service } = await brokenOff();
  expect((await restore([other])).status).toBe("proved");
  const [first] = service.store.read(other).chunks;
  const path = `/datasets/${datasetId}/documents/${other}/segments/${first?.row.id}`;
  await service.byOthers("POST", path, { segment: { content: "edited since" } });
  const { status, differences } = await restore([one]);
  expect([status, differences]).toEqual(["proved", []]);
  expect(texts(one)).toEqual(["edited 1", "edited 2", "chunk 3"]);
});

test("a document is restored after another re-index, with an undo of its own, while another restore is interrupted", async () => {
  const { restore, texts, service } = await brokenOff();
  const undosOf = async () => {
    const { status, differences, undo, warnings } = await restore([other]);
    expect([status, differences]).toEqual(["proved", []]);
    return [undo, ...warnings.map((warning) => warning.split(" is part of")[0])];
  };
  const [broken, before] = await undosOf();
  service.store.reindex(other, { seconds: 0 });
  const [still, again] = await undosOf();
  expect(still).toBe(broken);
  expect(again).not.toBe(before);
  expect(texts(other)).toEqual(["edited 1", "edited 2", "chunk 3"]);
});

test("a document with an unanswered add keeps its undo, although the interrupted restore is finished first", async () => {
  const { restore, texts, failWith } = await brokenOff({ added: ["added"] });
  failWith(({ path, body }) => (path.endsWith("/segments") && body !== "" ? "cut" : undefined));
  const unanswered = await restore([other]);
  const undo = unanswered.warnings.map((warning) => warning.split(" is part of")[0])[0];
  expect([unanswered.status, texts(other)]).toEqual(["partial", ["edited 1", "edited 2", "chunk 3"]]);
  failWith(() => undefined);
  expect((await restore([one])).status).toBe("proved");
  const { status, undo: first } = await restore([other]);
  expect([status, first]).toEqual(["proved", undo]);
  expect(texts(other)).toEqual(["edited 1", "edited 2", "chunk 3", "added"]);
  expect((await restore([other])).journal).toBeNull(); // the one before ended
});

test.each([
  ["deleted", { status: 404, code: "not_found", message: "Document not found." }],
  ["unreadable", { status: 403, code: "forbidden", message: "no" }],
])(
  "the document of an interrupted restore is %s: others are restored, and its own restore ends it",
  async (what, fault) => {
    const { restore, failWith } = await brokenOff();
    failWith(({ path }) => (path.includes(one) ? fault : undefined));
    const { status, differences } = await restore([other]);
    expect([status, differences]).toEqual(["proved", []]);
    const { status: next, applied } = await restore([other]);
    expect([next, applied]).toEqual(["nothing to restore", { rows: [], writes: 0 }]);
    if (what === "unreadable") failWith(() => undefined);
    expect((await restore([one])).status).toBe(what === "deleted" ? "different" : "proved");
    expect((await restore([other])).journal).toBeNull(); // the one before ended
  },
);

test("an edit in the document of an interrupted restore is found by its own restore, not by those of others", async () => {
  const { restore, service } = await brokenOff();
  const [first] = service.store.read(one).chunks;
  const path = `/datasets/${datasetId}/documents/${one}/segments/${first?.row.id}`;
  await service.byOthers("POST", path, { segment: { content: "edited since" } });
  const statuses: string[] = [];
  for (const document of [other, other, one, other]) statuses.push((await restore([document])).status);
  expect(statuses).toEqual(["proved", "nothing to restore", "different", "nothing to restore"]);
});

test("a restore finishes although its document is deleted meanwhile, and the next one starts fresh", async () => {
  const { restore, texts, failWith } = await brokenOff();
  const missing = { status: 404, code: "not_found", message: "Document not found." };
  failWith(({ path }) => (path.includes(one) ? missing : undefined));
  const { status, differences } = await restore([one, other]);
  expect(status).toBe("different");
  expect(differences?.map(({ document_id, reason }) => [document_id, reason])).toEqual([
    [one, "this restore wrote it, and its document is gone"],
  ]);
  expect(texts(other)).toEqual(["edited 1", "edited 2", "chunk 3"]);
  expect((await restore([other])).status).toBe("nothing to restore");
});

test("reads and writes together keep to the rate that was asked for", async () => {
  const { restore, failWith } = await brokenOff();
  const writes: number[] = [];
  failWith(({ method }) => {
    if (method !== "GET") writes.push(performance.now());
    return undefined;
  });
  expect((await restore([other], { maxRps: 40 })).status).toBe("proved");
  const [first = 0, second = 0] = writes;
  expect(second - first).toBeGreaterThan(37); // with the read in between, two steps of 25 ms; one step if reads did not share the rate
});

test("a write to a URL that the service does not know says to check --to", async () => {
  const { restore, failWith } = await brokenOff();
  const unknown = { status: 404, code: "not_found", message: "The requested URL was not found on the server." };
  failWith(({ method }) => (method === "GET" ? undefined : unknown));
  const { applied } = await restore([other]);
  const reasons = applied?.rows.map(({ reason }) => reason) ?? [];
  expect(reasons).toHaveLength(2);
  for (const reason of reasons) expect(reason).toMatch(/; the service does not know this URL; check --to$/);
});
