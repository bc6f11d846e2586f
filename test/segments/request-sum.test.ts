import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { RequestCounts } from "../../src/client/request-counts.js";
import { StopError } from "../../src/errors.js";
import { emptyRunProgress } from "../../src/job/run-progress.js";

import { runJob } from "../../src/run/run-job.js";
import { keepRequestSum, requestFile } from "../../src/segments/request-sum.js";
import { inFull } from "../rounds.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { query } from "../run/read-dump.js";
import type { Behaviour } from "../servers/behaviour.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";

const counted = (sent: number, retriedBy: Record<string, number>) => ({
  ...new RequestCounts(),
  sent,
  retried: 2,
  throttled: 1,
  bytes: 1000,
  retriedBy,
});

test("requests of earlier processes are added, also by reason; a failing process leaves its count", async () => {
  const folder = await testFolder();
  const fails = async () => {
    await using _kept = await keepRequestSum(folder, counted(10, { "503": 1, timeout: 1 }));
    throw new Error("broke off");
  };
  await expect(fails()).rejects.toThrow("broke off");
  const progress = new RequestCounts();
  await using kept = await keepRequestSum(folder, progress);
  expect(kept.sum()).toMatchObject({ sent: 10, retriedBy: { "503": 1, timeout: 1 } });
  Object.assign(progress, counted(5, { "503": 2 }));
  const sum = { sent: 15, answered: 0, retried: 4, throttled: 2, bytes: 2000, retriedBy: { "503": 3, timeout: 1 } };
  expect(kept.sum()).toEqual(sum);
});

test("a killed process leaves its count too: it is written to disk during the work", async () => {
  const folder = await testFolder();
  await using _kept = await keepRequestSum(folder, counted(10, {}));
  const left = async () => JSON.parse(await readFile(join(folder, requestFile), "utf8"));
  await vi.waitFor(async () => expect(await left()).toMatchObject({ sent: 10, bytes: 1000 }), { timeout: 20_000 });
});

test.each(["", "{", "[]", '{"sent":-1,"bytes":"x","retriedBy":7}'])("a file of %j counts as nothing", async (text) => {
  const folder = await testFolder();
  await writeFile(join(folder, requestFile), text);
  await using kept = await keepRequestSum(folder, counted(10, {}));
  expect(kept.sum().sent).toBe(10);
});

test("a planted link is not written through", async () => {
  const folder = await testFolder();
  await writeFile(join(folder, "mine"), "mine");
  await symlink(join(folder, "mine"), join(folder, requestFile));
  await expect(keepRequestSum(folder, counted(1, {}))).rejects.toThrow("ELOOP");
  expect(await readFile(join(folder, "mine"), "utf8")).toBe("mine");
});

test.runIf(inFull)(
  "manifest and database count the requests of all processes of a run, but only those of a retry",
  async () => {
    const store = new Store();
    const dataset = store.addDataset(
      makeDocument({ chunks: 250, childrenPerChunk: 1 }),
      makeDocument({ chunks: 1, seed: 2 }),
    );
    const behaviour: Behaviour = { documentError: new Map() };
    const server = await startRealisticServer(store, behaviour);
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const [first = "", second = ""] = dataset.documents.keys();
    const job = await jobFor(folder, {
      service: { base_url: server.url, concurrency: 2 },
      datasets: [{ id: dataset.id, documents: [first, second] }],
    });
    const progresses = [emptyRunProgress(), emptyRunProgress(), emptyRunProgress(), emptyRunProgress()] as const;
    const run = (index: 0 | 1 | 2 | 3, retryFailed = false) =>
      runJob(job, { env: { KNOWLEDGE_API_KEY: server.key }, progress: progresses[index], retryFailed });
    behaviour.documentError?.set(second, { status: 404, body: { code: "not_found", message: "gone", status: 404 } });
    for (const index of [0, 1] as const) {
      let answered = 0;
      behaviour.faults = (_request, nth) => {
        if (++answered > 60) return { kind: "status", status: 401 };
        return nth === 0 && answered % 20 === 0 ? { kind: "status", status: 500 } : undefined;
      };
      await expect(run(index)).rejects.toThrow(StopError);
    }
    delete behaviour.faults;
    const { manifest, database } = await run(2);
    const sumOf = (name: "sent" | "retried" | "bytes") =>
      progresses.slice(0, 3).reduce((sum, { requests }) => sum + requests[name], 0);
    expect(manifest.status).toBe("partial");
    expect(manifest.requests).toMatchObject({ sent: sumOf("sent"), retried: sumOf("retried"), bytes: sumOf("bytes") });
    expect(manifest.requests.retried).toBeGreaterThan(0);
    expect(manifest.retries["500"]).toBe(manifest.requests.retried);
    expect(await query("SELECT requests_sent, requests_retried FROM runs", database)).toEqual([
      { requests_sent: String(sumOf("sent")), requests_retried: String(sumOf("retried")) },
    ]);
    behaviour.documentError?.clear();
    const retried = await run(3, true);
    expect(retried.manifest.status).toBe("complete");
    expect(retried.manifest.requests.sent).toBe(progresses[3].requests.sent);
  },
);
