import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runHere } from "../../cli/run-here.js";
import { finished, startKbdump } from "../../cli/run-kbdump.js";
import { inFull } from "../../rounds.js";
import { jobFile, testFolder } from "../../run/job-for.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { type Batch, growingBatch, makeDocument, makeStatusEntry, Store } from "../../servers/store.js";

/** A job with one batch of one document, for the built program to watch. */
async function startPlace(batchOf: (id: string) => Batch) {
  const store = new Store();
  const document = makeDocument({ chunks: 3 });
  const dataset = store.addDataset(document);
  dataset.batches.set("2026", batchOf(document.id));
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFile(folder, {
    service: { base_url: server.url, retries: 0 },
    datasets: [{ id: dataset.id, documents: [document.id] }],
  });
  const env = { KNOWLEDGE_API_KEY: server.key };
  const args = ["status", job, "--batch", "2026", "--watch", "--interval", "0.1"];
  return {
    server,
    folder,
    job,
    env,
    document,
    args,
    watch: (...more: string[]) => runHere([...args, ...more], env),
  };
}

const working = (id: string): Batch => [
  makeStatusEntry(id, { indexing_status: "indexing", completed_at: null, completed_segments: 1, total_segments: 3 }),
];

test.runIf(inFull)("0 when all are completed: stages on stderr, the verdict and a table on stdout", async () => {
  const { watch, document } = await startPlace((id) => growingBatch([id], 40, 10));
  const { code, stdout, stderr } = await watch();
  expect(code).toBe(0);
  expect(stdout).toMatch(/^completed: 1 document in \d+\.\d s, 5 readings\n\ndocument .*\n.* completed +100 % /);
  expect(stdout).toMatch(/\nadded to .*test\.duckdb\n$/);
  const lines = stderr.trimEnd().split("\n"); // on a slow machine there may be a line every 10 s in between
  expect([lines[0], lines.at(-1)]).toEqual([
    `document ${document.id}: indexing`,
    `document ${document.id}: completed · 40 of 40 chunks, 100 %`,
  ]);
});

test.runIf(inFull)("3 when a document ended in an error, which is one JSON object on stdout", async () => {
  const { watch, document } = await startPlace((id) => [
    makeStatusEntry(id, { indexing_status: "error", error: "bad \u001b[31m" }),
  ]);
  const { code, stdout, stderr } = await watch("--json");
  expect(code).toBe(3);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({
    status: "error",
    polls: 1,
    rows: [{ document_id: document.id }],
    added: true,
  });
  expect(stderr).toContain(`warning: document ${document.id} of batch "2026" ended in an error: bad  [31m\n`);
});

test.runIf(inFull)("1 when the time is over, and one sentence even with --quiet", async () => {
  const { watch } = await startPlace(working);
  const { code, stdout, stderr } = await watch("--timeout", "1s", "--quiet", "--json");
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^kbdump: (1 of 1 document has not finished|no batch could be read) within 1\.0 s; --timeout sets .*\n$/,
  );
  expect(JSON.parse(stdout)).toMatchObject({ status: "timeout" });
});

test.runIf(inFull)("--log-format json: nothing but JSON lines on stderr", async () => {
  const { watch, document } = await startPlace((id) => growingBatch([id], 20, 10));
  const { stderr } = await watch("--log-format", "json");
  const lines = stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ message }) => message !== "progress")).toMatchObject([
    { message: "reading", document_id: document.id, share: null },
    { message: "reading", completed_segments: 10, share: 0.5 },
    { message: "reading", indexing_status: "completed", share: 1 },
  ]);
});

test.runIf(inFull)("SIGINT: exit 130, and the readings are kept for the next watch", async () => {
  const { args, env, folder, job } = await startPlace(working);
  const child = startKbdump([...args, "--json"], env, folder);
  const done = finished(child);
  if (child.stderr) await once(child.stderr, "data"); // by the first stage, a reading is saved
  child.kill("SIGINT");
  const { code, stdout, stderr } = await done;
  expect(code).toBe(130);
  expect(stderr.endsWith("kbdump: interrupted by SIGINT\n")).toBe(true);
  expect(JSON.parse(stdout)).toMatchObject({ status: "interrupted", exit_code: 130 });
  const waiting = join(folder, "out", "test", ".work", "indexing_status");
  expect(await readdir(waiting)).toHaveLength(1);
  expect((await runHere(["run", job, "--quiet"], env)).code).toBe(0);
  expect(await readdir(waiting)).toEqual([]);
});

test("every mistake of the command line at once: exit 2, and nothing is asked", async () => {
  const { server, job, env } = await startPlace(working);
  const wrong = await runHere(["status", job, "--watch", "--interval", "0", "--timeout", "soon"], env);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(
    /^kbdump: 2 problems with the command line:\n {2}--interval: got "0", .*\n {2}--timeout: got "soon", expected seconds, or a time/,
  );
  const alone = await runHere(["status", job, "--batch", "2026", "--interval", "1", "--timeout", "1"], env);
  expect(alone.code).toBe(2);
  expect(alone.stderr).toMatch(/--interval: only together with --watch\n {2}--timeout: only together with --watch/);
  const none = await runHere(["status", job, "--watch"], env);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("--batch") });
  expect(server.requests).toEqual([]);
});

test("a wrong key and an unknown batch: exit 1 and one sentence", async () => {
  const { job, env } = await startPlace(working);
  const key = await runHere(["status", job, "--batch", "2026", "--watch"], { KNOWLEDGE_API_KEY: "wrong" });
  expect(key).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^kbdump: the service does not accept the key from the variable KNOWLEDGE_API_KEY \(401 .*\(GET \S+\)\n$/,
    ),
  });
  const text = JSON.parse(await readFile(job, "utf8"));
  text.datasets[0].batches = ["nope"];
  await writeFile(job, JSON.stringify(text));
  const batch = await runHere(["status", job, "--watch"], env);
  expect(batch).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^kbdump: indexing status of batch "nope": 404 /),
  });
});
