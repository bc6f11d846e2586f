import { spawn } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { runHere } from "../cli/run-here.js";
import { finished } from "../cli/run-kbdump.js";
import { type Family, readPrometheus } from "../notify/prometheus.js";
import { type Received, startReceiver } from "../notify/start-receiver.js";
import { keys, openKbdump } from "../pseudo-terminal.js";
import { rounds } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import type { Behaviour } from "../servers/behaviour.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";

const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const secret = "0badc0de-5ec2-4e70-8000-000000000000";

/** Behaves like healthchecks.io: sends the operator a mail when a check goes down and when it is up again. */
function mailsFrom(received: readonly Received[]): readonly string[] {
  const mails: string[] = [];
  let [down, begun] = [false, ""];
  for (const { target, body } of received) {
    const { pathname, searchParams } = new URL(target, "http://x");
    const [key, reported] = [searchParams.get("rid") ?? "", JSON.parse(body)];
    if (pathname === `/${secret}/start`) begun = key;
    else {
      expect([`/${secret}`, `/${secret}/fail`]).toContain(pathname);
      if (reported.run_id !== null) expect(key).toBe(begun); // reports the end of the run that started
      const fails = pathname.endsWith("/fail");
      if (fails) mails.push(`down: ${reported.message}`);
      else if (down) mails.push("up again");
      down = fails;
    }
  }
  return mails;
}

async function startNights() {
  const store = new Store();
  const [first, second] = [makeDocument({ chunks: 20, childrenPerChunk: 1 }), makeDocument({ chunks: 5, seed: 2 })];
  const dataset = store.addDataset(first, second);
  const behaviour: Behaviour = { documentError: new Map() };
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const receiver = await startReceiver();
  const folder = await testFolder();
  await jobFile(folder, {
    name: "nightly",
    service: { base_url: server.url, retries: 0 },
    datasets: [{ id: dataset.id, documents: [first.id, second.id] }],
    output: { formats: ["jsonl"], keep: { last: 2 } },
    notify: { url: `\${PING_URL}/${secret}` },
  });
  /**
   * One night of cron, with the line from docs/operate.md. Returns the exit code (if not 0) and the mail from cron,
   * which is everything that was printed.
   */
  const night = async (key = server.key) => {
    const [, end] = /^#.* kbdump run \S+ (--quiet > .*)$/m.exec(await readFile("jobs/nightly.yaml", "utf8")) ?? [];
    const line = `"${process.execPath}" "${program}" run job.yaml ${end}`;
    const env = { PATH: process.env.PATH, KNOWLEDGE_API_KEY: key, PING_URL: receiver.url };
    const { code, stdout, stderr } = await finished(spawn("sh", ["-c", line], { cwd: folder, env }));
    return `${code === 0 ? "" : `exit ${code}\n`}${stdout}${stderr}`;
  };
  const place = join(folder, "out", "nightly");
  const figures = async () => {
    const families = readPrometheus(await readFile(join(place, "metrics.prom"), "utf8"));
    const figure = (name: string, more = "") => valueIn(families, name, `job=nightly${more}`);
    return { figure, success: figure("kbdump_last_success_timestamp_seconds") };
  };
  const runs = async () => (await readdir(join(place, "runs"))).sort();
  const latest = async () => (await readlink(join(place, "latest"))).replace("runs/", "");
  return { server, behaviour, receiver, second, place, folder, night, figures, runs, latest };
}

function valueIn(families: ReadonlyMap<string, Family>, name: string, labels: string): number | undefined {
  return families.get(name)?.samples.get(labels);
}

test("the operator hears of the nights in which something was wrong, and of no other", async () => {
  const { server, behaviour, receiver, second, place, night, figures, runs, latest } = await startNights();
  const mails = () => mailsFrom(receiver.received);

  // Three nights without trouble: no mail; the oldest of three runs is removed; the metrics advance.
  expect([await night(), await night()]).toEqual(["", ""]);
  const [oldest = "", middle = ""] = await runs();
  const before = await figures();
  expect(await night()).toBe("");
  expect(mails()).toEqual([]);
  expect(await runs()).toEqual([middle, await latest()]);
  expect(await runs()).not.toContain(oldest);
  const third = await figures();
  expect(third.success).toBeGreaterThan(before.success ?? 0);
  expect(third.figure("kbdump_runs_total", ",status=complete")).toBe(3);
  expect(third.figure("kbdump_requests_total")).toBe(server.requests.length);

  // A document cannot be read: the dump is partial and replaces no complete run.
  behaviour.documentError?.set(second.id, {
    status: 400,
    body: { code: "provider_not_initialize", message: "no model", status: 400 },
  });
  const kept = await runs();
  expect(await night()).toMatch(
    /^exit 3\npartial: 1 of 2 documents complete, 1 failed, 20 chunks.*\n(.*\n)* {2}failed .*\n(.*\n)* {2}node .*main\.js run job\.yaml --quiet --retry-failed$/m,
  );
  const bad = "down: partial: 1 of 2 documents complete, 1 failed";
  expect(mails()).toEqual([bad]);
  expect(JSON.parse(receiver.received.at(-1)?.body ?? "")).toMatchObject({ failed_documents: [second.id] });
  expect(await runs()).toEqual([...kept, expect.stringMatching(/Z$/)]);
  expect(await latest()).toBe(kept[1]);
  const partial = await figures();
  expect(partial.figure("kbdump_documents", ",status=failed")).toBe(1);
  expect(partial.figure("kbdump_last_run_status", ",status=partial")).toBe(1);
  expect(partial.success).toBe(third.success);

  // Fixed: the run is complete again, and the partial run is removed.
  behaviour.documentError?.clear();
  expect(await night()).toBe("");
  expect(mails()).toEqual([bad, "up again"]);
  expect(await runs()).toEqual([kept[1], await latest()]);

  // The key was changed, but not for the job: nothing is published, and existing runs stay.
  const whole = await runs();
  const fifth = await figures();
  expect(await night("dataset-SomeOldKeyOfLastYear")).toMatch(/^exit 1\nkbdump: .*401/);
  expect(mails()).toEqual([bad, "up again", expect.stringMatching(/^down: .*401/)]);
  expect(await runs()).toEqual(whole);
  const failed = await figures();
  expect(failed.success).toBe(fifth.success);
  expect(failed.figure("kbdump_runs_total", ",status=failed")).toBe(1);
  expect(failed.figure("kbdump_rows", ",kind=chunks")).toBe(25);

  // The night after. All runs that the operator keeps are sound and contain no secret.
  expect(await night()).toBe("");
  expect(mails().at(-1)).toBe("up again");
  expect((await runHere(["verify", join(place, "latest"), "--quiet"])).code).toBe(0);
  const manifest = await readFile(join(place, "latest", "manifest.json"), "utf8");
  for (const text of [manifest, await readFile(join(place, "metrics.prom"), "utf8"), JSON.stringify(mails())])
    for (const hidden of [secret, server.key, "SomeOldKey"]) expect(text).not.toContain(hidden);
}, 120_000);

test.each([40, 80].slice(0, rounds(1, 2)))(
  "at a terminal of %d columns, Ctrl-C says that progress is kept, and the same command resumes",
  async (columns) => {
    const store = new Store();
    const documents = Array.from({ length: 6 }, (_, seed) => makeDocument({ chunks: 3, seed }));
    const dataset = store.addDataset(...documents);
    const server = await startRealisticServer(store, { latency: 150 });
    onTestFinished(() => server.close());
    const cwd = await testFolder();
    await jobFile(cwd, {
      service: { base_url: server.url, concurrency: 1 },
      datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id) }],
      output: { dir: "out", formats: ["jsonl"] },
    });
    const open = () => openKbdump(["run", "job.yaml"], { cwd, columns, env: { KNOWLEDGE_API_KEY: server.key } });
    const first = open();
    await first.shows(/2\/6/);
    first.type(keys.ctrlC);
    expect(await first.ended).toBe(130);
    const said = first.text().replace(/\n +/g, " ");
    expect(said).toMatch(
      /interrupted by SIGINT; [1-5] of 6 documents read; progress is kept; run the same command to resume$/,
    );
    expect(first.text()).not.toMatch(/[━╌]/);
    const sent = server.requests.length;
    const second = open();
    expect(await second.ended).toBe(0);
    expect(second.text()).toContain("complete: 6 documents");
    expect(server.requests.length - sent).toBeLessThan(sent + 30);
  },
  120_000,
);
