import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { InterruptedError } from "../../src/errors.js";
import { emptyRunProgress } from "../../src/job/run-progress.js";

import { query } from "../run/read-dump.js";
import { startJoining } from "./joining.js";

test("joined again after an edit, the database has the history, and the manifest the new and vanished documents", async () => {
  const { job, store, runShards, joinJob } = await startJoining(8, {
    output: { formats: ["duckdb"], keep: { last: 2 } },
  });
  await runShards(2, { documentsFrom: undefined });
  const first = await joinJob();
  const [dataset] = store.datasets.values();
  const [gone = "", edited = ""] = dataset?.documents.keys() ?? [];
  dataset?.documents.delete(gone);
  const [chunk] = dataset?.documents.get(edited)?.chunks ?? [];
  if (chunk) Object.assign(chunk, { content: "another" });
  await runShards(2);
  const second = await joinJob();
  const third = await joinJob();
  expect(second.manifest.discovered).toMatchObject({ since: first.manifest.run_id, new: [], vanished: [gone] });
  expect(third.manifest.discovered).toMatchObject({ since: second.manifest.run_id, vanished: [] });
  expect(third.pruned).toEqual([first.manifest.run_id]);
  const changes = await query(
    "SELECT run_id, change, content FROM chunk_changes WHERE change = 'changed'",
    third.database,
  );
  expect(changes).toEqual([expect.objectContaining({ run_id: second.manifest.run_id })]);
  expect(await query("SELECT count(*)::INT AS runs FROM runs", third.database)).toEqual([{ runs: 3 }]);
  expect(job.name).toBe(third.manifest.job);
});

test("a join keeps the work of an interrupted run, which can then resume", async () => {
  const { run, runShards, joinJob, behaviour } = await startJoining();
  behaviour.latency = 20;
  const stop = new AbortController();
  const progress = emptyRunProgress();
  const ended = run({}, { signal: stop.signal, progress }).catch((error: unknown) => error);
  while (progress.documentsDone < 2) await sleep(5);
  stop.abort(new InterruptedError("SIGTERM"));
  expect(await ended).toBeInstanceOf(InterruptedError);
  behaviour.latency = 0;
  await runShards(2);
  expect((await joinJob()).status).toBe("complete");
  const reported: string[] = [];
  await run({}, { log: (_level, text) => reported.push(text) });
  expect(reported).toContainEqual(expect.stringMatching(/^continuing the run that began at /));
});
