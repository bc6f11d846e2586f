import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { InterruptedError } from "../../src/errors.js";
import { isThere } from "../../src/files/files.js";
import type { Job } from "../../src/job/job.js";
import { emptyRunProgress } from "../../src/job/run-progress.js";
import { workspaceIn } from "../../src/run/open-workspace.js";
import { reportRun } from "../../src/run/publish-run.js";
import { runJob } from "../../src/run/run-job.js";
import type { LeasedJob } from "../../src/store/lease.js";
import { runHere } from "../cli/run-here.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { underLease } from "../under-lease.js";
import { smallStore } from "../verify/dumped.js";
import { jobFile, jobFor, testFolder } from "./job-for.js";

/** A job for a small knowledge base; by default with files and a database. */
async function startJob(output: object = {}) {
  const { store, dataset, documents } = smallStore();
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const facts = {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id) }],
    output: { formats: ["jsonl", "duckdb"], ...output },
  };
  const env = { KNOWLEDGE_API_KEY: server.key };
  const place = join(folder, "out", "test");
  return { folder, facts, env, place, path: join(place, "report.html"), documents };
}

const running = () => ({ progress: emptyRunProgress(), signal: new AbortController().signal });

test("run --report: the page is beside the runs, compared with the complete run before, and the result names it", async () => {
  const { folder, facts, env, place, path, documents } = await startJob({ keep: { last: 1 } });
  const file = await jobFile(folder, facts);
  const run = async () => {
    const { code, stdout, stderr } = await runHere(["run", file, "--report", "--json", "--quiet"], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { report, run_id } = JSON.parse(stdout);
    expect(report).toBe(path);
    return { run_id, page: await readFile(path, "utf8") };
  };
  const first = await run();
  for (const document of documents) for (const chunk of document.chunks) chunk.id = crypto.randomUUID();
  const second = await run(); // this run removes the previous one, but compares with it first
  expect(first.page).toContain(first.run_id);
  expect(second.page).toContain(second.run_id);
  expect([first, second].map(({ page }) => page.includes('<section id="lost"'))).toEqual([false, true]);
  expect(await readdir(join(place, "runs"))).toEqual([second.run_id]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(join(place, ".work"))).toEqual(["indexing_status"]);
  const job = await jobFor(folder, facts);
  expect((await runJob(job, { env })).report).toBeUndefined();
  expect(await readFile(path, "utf8")).toBe(second.page);
});

test("a page that cannot be written is a problem: exit 3, the run is published, and the command that writes it works", async () => {
  const { folder, facts, env, place, path } = await startJob();
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "in the way"), "");
  const { code, stdout, stderr } = await runHere(["run", await jobFile(folder, facts), "--report", "--json"], env);
  const { status, report, problems, run_id } = JSON.parse(stdout);
  expect({ code, status, report }).toEqual({ code: 3, status: "partial", report: null });
  expect(await readdir(join(place, "runs"))).toEqual([run_id]);
  expect(await isThere(join(place, "latest"))).toBe(true);
  const command = `kbdump report ${join(place, "runs", run_id)} -o ${path}`;
  const said = `the report could not be written (The report cannot be written to ${path}: it is a folder; name a file); ${command} writes it`;
  expect(problems).toEqual([said]);
  expect(stderr).toContain(`published, but ${said}`);
  await rm(path, { recursive: true });
  expect((await runHere(command.split(" ").slice(1))).code).toBe(0);
});

test("a signal during the report leaves the run published and the old page as it was", async () => {
  const { folder, facts, env, path } = await startJob();
  const job = await jobFor(folder, facts);
  await runJob(job, { env, report: true });
  const before = await readFile(path, "utf8");
  const stop = new AbortController();
  const progress = new Proxy(emptyRunProgress(), {
    set: (target, name, value) => {
      if (value === "writing the report") stop.abort(new InterruptedError("SIGTERM"));
      return Reflect.set(target, name, value);
    },
  });
  const { status, report, problems } = await runJob(job, { env, report: true, signal: stop.signal, progress });
  expect({ status, report }).toEqual({ status: "partial", report: undefined });
  expect(problems.join()).toContain("the report could not be written (interrupted by SIGTERM); kbdump report ");
  expect(await readFile(path, "utf8")).toBe(before);
});

/** Prepares the workspace in which an owner of the job would report the newest run. */
async function workOf(leased: LeasedJob, place: string) {
  const [runId = ""] = (await readdir(join(place, "runs"))).sort().reverse();
  const workspace = { ...workspaceIn(leased, runId), startedAt: new Date(0) };
  await mkdir(workspace.scratch, { recursive: true });
  return { workspace, published: { folder: join(place, "runs", runId) } };
}

test("a run that was frozen while a successor published does not replace its report", async () => {
  const { folder, facts, env, place, path } = await startJob();
  const job: Job = await jobFor(folder, facts);
  const { manifest } = await runJob(job, { env });
  const options = { now: () => new Date(), log: () => {} };
  const ended = underLease(job, options, async (mine) => {
    const late = await workOf(mine, place);
    await rename(join(place, ".work", "lock"), join(folder, "lock")); // as if it had sent no heartbeat
    const successor = await runJob(job, { env, report: true });
    expect(successor.report).toBe(path);
    const written = await readFile(path, "utf8");
    const reported = await reportRun(job, late.workspace, late.published, running());
    expect(reported.report).toBeUndefined();
    expect(reported.failures.join()).toContain("the report could not be written (this job was taken over by process ");
    expect(await readFile(path, "utf8")).toBe(written);
    expect(written).toContain(basename(successor.folder));
    expect(basename(late.published.folder)).toBe(manifest.run_id);
  });
  await ended;
});

test("a run that owns its job replaces the report by a rename from its own folder", async () => {
  const { folder, facts, env, place, path } = await startJob();
  const job: Job = await jobFor(folder, facts);
  await runJob(job, { env });
  await underLease(job, { now: () => new Date(), log: () => {} }, async (mine) => {
    const { workspace, published } = await workOf(mine, place);
    expect(await reportRun(job, workspace, published, running())).toEqual({ report: path, failures: [] });
    await rm(workspace.work, { recursive: true });
    expect((await reportRun(job, workspace, published, running())).report).toBeUndefined();
  });
});
