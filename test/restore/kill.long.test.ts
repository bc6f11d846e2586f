import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { runJob } from "../../src/run/run-job.js";
import { finished, runKbdump, startKbdump } from "../cli/run-kbdump.js";
import { rounds } from "../rounds.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { type Fate, openLossyWire } from "../servers/lossy-wire.js";
import { datasetId, documentId, KnowledgeBase, type Standing } from "./random/knowledge-base.js";
import type { ManualEdit } from "./random/scenario.js";

const key = "restore-key";
const env = { KNOWLEDGE_RESTORE_KEY: key };

/** Seven manual edits; restoring each takes one write. */
const edits: readonly ManualEdit[] = [
  { do: "edit", at: 0 },
  { do: "edit", at: 1 },
  { do: "disable", at: 2 },
  { do: "add child", at: 3 },
  { do: "edit child", at: 4 },
  { do: "add" },
  { do: "add" },
];

/** The number of the write at which the process is killed, from 1, and whether the service receives that write. */
const moments: readonly (readonly [number, Fate])[] = [
  [6, "lose answer"],
  ...edits.flatMap((_, at) => [[at + 1, "lose answer"] as const, [at + 1, "lose request"] as const]),
];

test.each(moments.slice(0, rounds(1, moments.length)))(
  "kill -9 at write %d (%s): the same command again restores the rest, and nothing twice",
  async (number, fate) => {
    const { base, wire, folder } = await lostByReindex();
    const backup = base.chunks;
    base.demo.store.reindex(documentId, { seconds: 0 });
    const args = ["restore", folder, "--apply", "--yes", "--settle", "1", "--lock-time", "1"];

    const child = startKbdump(args, env);
    let writes = 0;
    wire.decide = () => {
      if (++writes !== number) return "pass";
      child.kill("SIGKILL");
      return fate;
    };
    expect((await finished(child)).code).toBeNull();
    expect(writes).toBe(number);

    const dumps = join(`${folder}.restore`, "before", "runs");
    const ofFirst = await readdir(dumps);
    const { code, stdout, stderr } = await runKbdump([...args, "--json"], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "an earlier restore did not end: looking for 1 write\n" });
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ status: "proved", differences: [] });
    const changed = number > 1 || fate === "lose answer"; // whether the first process changed anything
    expect([dirname(result.undo), ofFirst.includes(basename(result.undo))]).toEqual([dumps, changed]);
    expect(writes).toBe(fate === "lose request" ? edits.length + 1 : edits.length);
    expect(result.applied.writes).toBe(writes);
    const journal = (await readFile(join(`${folder}.restore`, "journal.jsonl"), "utf8")).trimEnd().split("\n");
    expect(journal.filter((line) => line.includes('"kind":"begun"'))).toHaveLength(
      writes > number ? 2 : 1, // one for each process that writes
    );
    expect(journal.at(-1)).toContain('"kind":"end"');
    expect(workOf(base.chunks)).toEqual(workOf(backup));
  },
  60_000,
);

/** Makes a run before and a run after the edits. A proxy in front of the service decides the fate of writes. */
async function lostByReindex() {
  const base = new KnowledgeBase({ form: "hierarchical_model", chunks: 6 });
  const service = await startService({ demo: base.demo, key });
  const decider = { decide: (): Fate => "pass" };
  const { url, close } = await openLossyWire(service.url, ({ method }) =>
    method === "GET" ? "pass" : decider.decide(),
  );
  onTestFinished(async () => {
    await close();
    await service.close();
  });
  const job = await jobFor(await testFolder(), {
    service: { base_url: url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    output: { formats: ["jsonl", "duckdb"] },
  });
  const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  await run();
  for (const edit of edits) await base.work(edit);
  const { folder } = await run();
  return { base, wire: decider, folder };
}

/** Chunks and manual child chunks, without ids. A restore does not handle automatic child chunks. */
function workOf(chunks: readonly Standing[]): readonly unknown[] {
  return chunks.map(({ id, children, ...chunk }) => ({
    ...chunk,
    children: children.filter(({ isCustomized }) => isCustomized).map(({ content }) => content),
  }));
}
