import { mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { InterruptedError } from "../../src/errors.js";
import type { RunOptions } from "../../src/job/open-service.js";
import { runJob } from "../../src/run/run-job.js";
import { lockJob } from "../../src/store/folder/lock.js";
import { readPrometheus } from "../notify/prometheus.js";
import { startReceiver } from "../notify/start-receiver.js";
import { inFull } from "../rounds.js";
import type { Behaviour } from "../servers/behaviour.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFor, testFolder } from "./job-for.js";

const absent = "00000000-0000-4000-8000-00000000dead";
const secret = "0badc0de-5ec2-4e70-8000-000000000000";

async function startPlace() {
  const store = new Store();
  const document = makeDocument({ chunks: 3 });
  const dataset = store.addDataset(document);
  const behaviour: Behaviour = {};
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const receiver = await startReceiver();
  const folder = await testFolder();
  const messages: string[] = [];
  const more: Record<string, string> = {};
  const run = async (documents: readonly string[] = [document.id], options: RunOptions = {}, service: object = {}) => {
    const job = await jobFor(folder, {
      service: { base_url: server.url, retries: 0, ...service },
      datasets: [{ id: dataset.id, documents }],
      output: { formats: ["jsonl"], ...more },
      notify: { url: `${receiver.url}/${secret}` },
    });
    return runJob(job, {
      env: { KNOWLEDGE_API_KEY: server.key },
      log: (level, message) => messages.push(`${level}: ${message}`),
      ...options,
    });
  };
  const place = join(folder, "out", "test");
  const metrics = async () => readPrometheus(await readFile(join(place, "metrics.prom"), "utf8"));
  const status = async () =>
    [...((await metrics()).get("kbdump_last_run_status")?.samples ?? [])].find(([, value]) => value === 1)?.[0];
  return { server, behaviour, receiver, document, folder, more, place, run, metrics, status, messages };
}

const bodies = (received: readonly { body: string }[]) => received.map(({ body }) => JSON.parse(body));

test.runIf(inFull)(
  "a run reports its start and its success, paired by a rid; the key and the URL go nowhere else",
  async () => {
    const { receiver, run, place, server, messages, metrics, status } = await startPlace();
    const { manifest, folder } = await run();
    expect(receiver.paths()).toBe(`/${secret}/start /${secret}`);
    const rids = receiver.received.map(({ target }) => new URL(target, receiver.url).searchParams.get("rid"));
    expect(rids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(rids[1]).toBe(rids[0]);
    expect(bodies(receiver.received)).toMatchObject([
      { event: "start", job: "test", run_id: manifest.run_id, rid: rids[0] },
      {
        event: "success",
        status: "complete",
        run_id: manifest.run_id,
        counts: { documents: 1, chunks: 3 },
        requests: { sent: manifest.requests.sent },
        message: "complete: 1 document, 3 chunks, 0 child chunks",
      },
    ]);
    expect(JSON.stringify(receiver.received)).not.toContain(server.key);
    expect(messages).toEqual([]);
    for (const path of [join(folder, "manifest.json"), join(place, "metrics.prom")])
      expect(await readFile(path, "utf8")).not.toContain(secret);
    expect(await status()).toBe("job=test,status=complete");
    expect((await metrics()).get("kbdump_requests_total")?.samples.get("job=test")).toBe(manifest.requests.sent);
    expect((await stat(join(place, "metrics.prom"))).mode & 0o777).toBe(0o600);
  },
);

test("a partial run is reported as a failure that published a run, with the ids of failed documents", async () => {
  const { receiver, run, document, status } = await startPlace();
  await run([document.id, absent]);
  expect(receiver.paths()).toBe(`/${secret}/start /${secret}/fail`);
  expect(bodies(receiver.received)[1]).toMatchObject({
    event: "partial",
    documents_failed: 1,
    failed_documents: [absent],
    message: "partial: 1 of 2 documents complete, 1 failed",
    text: `kbdump test: partial: 1 of 2 documents complete, 1 failed: ${absent}`,
  });
  expect(await status()).toBe("job=test,status=partial");
});

test.runIf(inFull)(
  "a run that fails is reported with its reason, also when it fails for want of a key, before there is a run",
  async () => {
    const { receiver, run, status, metrics, server } = await startPlace();
    await run();
    await expect(run(undefined, { env: {} })).rejects.toThrow("no key");
    await expect(run(undefined, { env: { KNOWLEDGE_API_KEY: "dataset-wrong" } })).rejects.toThrow("401");
    expect(receiver.paths().split(" ").slice(2).join(" ")).toBe(`/${secret}/fail /${secret}/start /${secret}/fail`);
    const [, , noKey, , wrongKey] = bodies(receiver.received);
    expect(noKey).toMatchObject({
      event: "failure",
      run_id: null,
      counts: null,
      message: expect.stringMatching("no key"),
    });
    expect(wrongKey).toMatchObject({ status: "failed", run_id: expect.stringMatching(/Z$/) });
    expect(JSON.stringify(receiver.received)).not.toMatch(new RegExp(`dataset-wrong|${server.key}`));
    expect(await status()).toBe("job=test,status=failed");
    expect((await metrics()).has("kbdump_last_success_timestamp_seconds")).toBe(true);
    expect((await metrics()).get("kbdump_rows")?.samples.get("job=test,kind=chunks")).toBe(3);
  },
);

test("while another run is in progress, a run that could not start is not reported", async () => {
  const { receiver, run, place } = await startPlace();
  await mkdir(join(place, ".work"), { recursive: true });
  const lock = await lockJob(join(place, ".work"), new Date());
  onTestFinished(() => lock.release(join(place, ".work")));
  await expect(run()).rejects.toThrow("another run of this job");
  expect(receiver.received).toEqual([]);
  expect(await readdir(place)).toEqual([".work"]);
});

test.runIf(inFull).each([
  ["SIGTERM", `/${secret}/start /${secret}/fail`],
  ["SIGINT", `/${secret}/start`],
] as const)("a run that %s ended sends a notification, unless a person pressed the key", async (signal, paths) => {
  const { receiver, behaviour, run, status } = await startPlace();
  const interrupted = new AbortController();
  behaviour.onRequest = () => {
    if (receiver.received.length > 0) interrupted.abort(new InterruptedError(signal));
  };
  behaviour.latency = () => (receiver.received.length > 0 ? 0 : 20); // slow until the start is reported
  behaviour.faults = () => (interrupted.signal.aborted ? undefined : { kind: "status", status: 503 });
  await expect(run(undefined, { signal: interrupted.signal }, { retries: 20 })).rejects.toThrow(signal);
  expect(receiver.paths()).toBe(paths);
  expect(await status()).toBe("job=test,status=interrupted");
});

test.runIf(inFull)("a receiver that refuses causes a warning with only its host, and the run is complete", async () => {
  const { receiver, run, messages } = await startPlace();
  receiver.answer = () => 404;
  expect((await run()).manifest.status).toBe("complete");
  const host = receiver.url.replace("http://", "");
  expect(messages).toEqual([
    `warn: could not notify ${host} (start): it answered with status 404`,
    `warn: could not notify ${host} (success): it answered with status 404`,
  ]);
});

test("metrics that cannot be written are a warning, and a planted link is not followed", async () => {
  const { run, place, messages } = await startPlace();
  await mkdir(join(place, "metrics.prom"), { recursive: true });
  await run();
  expect(messages).toEqual([
    expect.stringMatching(
      /^warn: the metrics could not be written: .*metrics\.prom is a folder, not a file; remove it/,
    ),
  ]);
});

test.runIf(inFull)(
  "metrics_file is a copy of the metrics that every user can read, with any umask, and the only file there",
  async () => {
    const { run, place, folder, more, messages } = await startPlace();
    const collector = join(folder, "textfile");
    await mkdir(collector);
    more.metrics_file = join(collector, "kbdump_test.prom");
    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    await run();
    await expect(run([absent])).rejects.toThrow(`document ${absent}`);
    expect(await readdir(collector)).toEqual(["kbdump_test.prom"]);
    expect((await stat(more.metrics_file)).mode & 0o777).toBe(0o644);
    expect(await readFile(more.metrics_file, "utf8")).toBe(await readFile(join(place, "metrics.prom"), "utf8"));
    expect(messages).toEqual([]);
  },
);

test.runIf(inFull)("a metrics_file that cannot be written is a warning", async () => {
  const { run, folder, more, messages } = await startPlace();
  more.metrics_file = join(folder, "absent", "kbdump_test.prom");
  expect((await run()).status).toBe("complete");
  expect(messages).toEqual([expect.stringMatching(/^warn: the metrics could not be written: .*absent/)]);
});

test.runIf(inFull)("a link planted as the metrics is replaced, not written through", async () => {
  const { run, place } = await startPlace();
  await mkdir(place, { recursive: true });
  await symlink(join(place, "elsewhere"), join(place, "metrics.prom"));
  await run();
  expect(await readdir(place)).not.toContain("elsewhere");
  expect(await readFile(join(place, "metrics.prom"), "utf8")).toContain("kbdump_runs_total");
});
