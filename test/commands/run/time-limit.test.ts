import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { TimeLimit } from "../../../src/commands/run.js";
import { InterruptedError } from "../../../src/errors.js";
import { runHere } from "../../cli/run-here.js";
import { inFull } from "../../rounds.js";
import { jobFile, testFolder } from "../../run/job-for.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store } from "../../servers/store.js";

afterEach(() => void vi.useRealTimers());

test("a run that reads is interrupted when its time is over, like by SIGTERM", () => {
  vi.useFakeTimers();
  const interrupt = vi.fn();
  new TimeLimit(4 * 3_600_000, interrupt);
  vi.advanceTimersByTime(4 * 3_600_000 - 1);
  expect(interrupt).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  const [error] = interrupt.mock.calls[0] ?? [];
  expect(error).toBeInstanceOf(InterruptedError);
  expect(error).toMatchObject({ exitCode: 143, message: "stopped after 4 h, as --max-duration says" });
});

test.each([
  ["begun", 0],
  ["done", 0],
  ["failed", 1],
] as const)("a run whose commit has %s is interrupted %i times", (state, times) => {
  vi.useFakeTimers();
  const interrupt = vi.fn();
  const limit = new TimeLimit(1_000, interrupt);
  limit.committing(state);
  vi.advanceTimersByTime(2_000);
  expect(interrupt).toHaveBeenCalledTimes(times);
});

test.each([[""], ["4x"], ["0"], ["9999h"], ["1h", "2h"]])("--max-duration %j %j is refused", async (...values) => {
  const { code, stderr } = await runHere(["run", "job.yaml", ...values.map((value) => `--max-duration=${value}`)]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^kbdump: (1 problem with the command line:\n {2})?--max-duration: /);
});

test.runIf(inFull)("--max-duration ends a slow run, and the next one continues from there", async () => {
  const store = new Store();
  const document = makeDocument({ chunks: 200, childrenPerChunk: 1 });
  const dataset = store.addDataset(document);
  const server = await startRealisticServer(store, { latency: 50 });
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFile(folder, {
    service: { base_url: server.url, concurrency: 2 },
    datasets: [{ id: dataset.id, documents: [document.id] }],
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
  });
  const env = { KNOWLEDGE_API_KEY: server.key };
  const first = await runHere(["run", job, "--quiet", "--max-duration", "2s"], env);
  expect(first).toEqual({
    code: 143,
    stdout: "",
    stderr: "kbdump: stopped after 2.0 s, as --max-duration says; progress is kept; run the same command to resume\n",
  });
  const asked = server.requests.length;
  server.behaviour.latency = 0;
  expect(await runHere(["run", job, "--quiet", "--max-duration", "1h"], env)).toMatchObject({ code: 0, stderr: "" });
  expect(server.requests.length - asked).toBeLessThan(205);
});
