import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { startService } from "../../../src/demo/start-service.js";
import { restoreLost } from "../../../src/restore/lost/restore-lost.js";
import type { RestoreResult } from "../../../src/restore/lost/restore-options.js";
import { runJob } from "../../../src/run/run-job.js";
import { rounds } from "../../rounds.js";
import { jobFor } from "../../run/job-for.js";
import { openFatedWire } from "../../servers/fated-wire.js";
import { freezeRestore } from "../frozen-restore.js";
import { expectLinkRefused } from "../planted.js";
import { restoring } from "../restoring.js";
import { type Expected, expectDocument } from "./expect-document.js";
import { datasetId, documentId, KnowledgeBase, type Standing } from "./knowledge-base.js";
import { type Scenario, scenario } from "./scenario.js";

const key = "restore-key";

/** The expected and the actual result of a restore. */
interface Played {
  readonly expected: readonly Expected[];
  readonly standing: readonly Standing[];
  readonly result: RestoreResult;
}

test("every text with hard evidence is restored once, and nothing else changes, whatever happens to requests", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (drawn) => {
      const { expected, standing, result } = await play(drawn);
      expect(sorted(standing)).toEqual(sorted(expected.map((chunk) => matching(chunk, standing))));
      expect(result.differences ?? []).toEqual([]);
      expect(["proved", "partial", "nothing to restore", "planned"]).toContain(result.status);
    }),
    { numRuns: rounds(1, 20, "KBDUMP_RESTORE_ROUNDS"), seed: Number(process.env.KBDUMP_RESTORE_SEED ?? 1) },
  );
}, 3_600_000);

async function play(drawn: Scenario): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-test-"));
  const base = new KnowledgeBase(drawn);
  const service = await startService({ demo: base.demo, key });
  const wire = await openFatedWire(service.url, drawn.fates);
  try {
    for (const edit of drawn.early) await base.work(edit);
    const job = await jobFor(folder, {
      service: { base_url: wire.url },
      datasets: [{ id: datasetId, documents: [documentId] }],
      output: { dir: join(folder, "out"), formats: ["jsonl", "duckdb"] },
    });
    const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
    await run();
    const first = base.chunks;
    for (const edit of drawn.edits) await base.work(edit);
    const { folder: backedUp } = await run();
    const backup = base.chunks;
    for (const at of drawn.updated) base.updateSource(at);
    base.demo.store.reindex(documentId, { seconds: 0, maxCharacters: drawn.maxCharacters ?? undefined });
    for (const edit of drawn.others) await base.work(edit);
    const expected = expectDocument({ first, backup, target: base.chunks });
    const restore = () => restoreLost(restoring(backedUp, key));
    const plant = async (at: number) => {
      if (drawn.planted && at === Math.min(drawn.planted.before, drawn.breaks.length))
        await expectLinkRefused(backedUp, drawn.planted, { wire, restore });
    };
    for (const [at, number] of drawn.breaks.entries()) {
      await plant(at);
      await restoreLost(restoring(backedUp, key, { signal: wire.breakAt(number) })).catch(() => {});
    }
    const frozen = drawn.frozenAt === null ? undefined : await freezeRestore(backedUp, [], key, drawn.frozenAt);
    await plant(drawn.breaks.length);
    await restore(); // some adds may have to wait for a later command, because writes get lost
    wire.mend();
    const result = await restore();
    const woken = await frozen?.wake();
    if (woken) expect(woken).toMatchObject({ code: 1, stderr: expect.stringContaining("/lock was removed") });
    return { expected, standing: base.chunks, result };
  } finally {
    await wire.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where the service may choose keywords, takes the ones that it chose. */
function matching(chunk: Expected, standing: readonly Standing[]): Expected {
  const same = standing.find(({ content, answer }) => content === chunk.content && answer === chunk.answer);
  return { ...chunk, keywords: chunk.keywords ?? same?.keywords ?? [] };
}

/** Chunks without ids, sorted, because a restore does not bring back positions. */
function sorted(chunks: readonly (Expected | Standing)[]): readonly unknown[] {
  return chunks
    .map(({ content, answer, isEnabled, keywords, children }) => ({
      ...{ content, answer, isEnabled, keywords: [...(keywords ?? [])].sort() },
      children: children.map((child) => `${child.isCustomized ? "customized" : "automatic"}: ${child.content}`).sort(),
    }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
