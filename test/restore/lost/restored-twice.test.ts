import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { diffRuns } from "../../../src/compare/diff-runs.js";
import { startService } from "../../../src/demo/start-service.js";
import { restoreLost } from "../../../src/restore/lost/restore-lost.js";
import type { RestoreResult } from "../../../src/restore/lost/restore-options.js";
import { runJob } from "../../../src/run/run-job.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { datasetId, documentId, KnowledgeBase } from "../random/knowledge-base.js";
import type { ManualEdit, Scenario } from "../random/scenario.js";
import { restoring } from "../restoring.js";

const key = "restore-key";

/** A document with chunks and manual edits on it, its backup, and functions to index it again and to restore it. */
async function backedUp(form: Scenario["form"], ...edits: readonly ManualEdit[]) {
  const base = new KnowledgeBase({ form, chunks: 2 }, true);
  const service = await startService({ demo: base.demo, key });
  onTestFinished(() => service.close());
  for (const edit of edits) await base.work(edit);
  const job = await jobFor(await testFolder(), {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    details: true,
  });
  const { folder } = await runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  base.demo.store.reindex(documentId, { seconds: 0 });
  return { base, restore: (more = {}) => restoreLost(restoring(folder, key, more)) };
}

const listedIn = ({ plan }: RestoreResult) =>
  plan.documents.flatMap(({ listed }) => listed.map(({ why, reason, now, choice }) => [why, reason, now, choice]));
const writtenTo = (what: string, id = "") => [
  ...["needs your decision", `A restore wrote it to the ${what} ${id}, which has another text now.`, null, "add"],
];

test("a restored chunk that someone edits afterwards needs a decision, and its old text is not added beside it", async () => {
  const { base, restore } = await backedUp("text_model", { do: "add" });
  expect(await restore()).toMatchObject({ status: "proved", counts: { chunks_added: 1 } });
  await base.work({ do: "edit", at: 2 });
  const now = base.chunks;
  const again = await restore();
  expect([again.status, listedIn(again)]).toEqual(["partial", [writtenTo("chunk", now[2]?.id)]]);
  expect(base.chunks).toEqual(now);
});

test("a restored child chunk that someone edits afterwards needs a decision, too", async () => {
  const { base, restore } = await backedUp("hierarchical_model", { do: "add child", at: 0 });
  expect(await restore()).toMatchObject({ status: "proved", counts: { children_added: 1 } });
  const [chunk] = base.chunks;
  const added = chunk?.children.find(({ isCustomized }) => isCustomized);
  await base.demo.writes.updateChild([datasetId, documentId, chunk?.id ?? ""], added?.id ?? "", "Corrected.");
  const again = await restore();
  expect([again.status, listedIn(again)]).toEqual(["partial", [writtenTo("child chunk", added?.id)]]);
  const texts = base.chunks[0]?.children.map(({ content }) => content);
  expect(texts).toEqual([...(chunk?.children ?? []).slice(0, -1).map(({ content }) => content), "Corrected."]);
});

test("a chunk that a restore added is not added again, even if another lost chunk has the same text", async () => {
  const base = new KnowledgeBase({ form: "text_model", chunks: 1 });
  const service = await startService({ demo: base.demo, key });
  onTestFinished(() => service.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    output: { dir: join(folder, "out"), formats: ["jsonl", "duckdb"] },
  });
  const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  await base.work({ do: "add twin", at: 0 }); // before the first run, so there is no evidence of it
  await run();
  await base.work({ do: "add twin", at: 0 });
  const { folder: backup } = await run();
  const reindex = () => base.demo.store.reindex(documentId, { seconds: 0 });
  const restore = () => restoreLost(restoring(backup, key));

  reindex();
  const first = await restore();
  expect(first).toMatchObject({ status: "proved", counts: { chunks_added: 1 }, applied: { writes: 1 } });
  expect(first.journal).toBe(join(`${backup}.restore`, "journal.jsonl"));
  expect(await restore()).toMatchObject({ status: "nothing to restore", lost: 1, manual_edits: 0, journal: null });
  expect(base.chunks).toHaveLength(2);
  const { folder: newer } = await run();
  const diff = await diffRuns(backup, newer);
  expect([diff.lost, diff.manual_edits]).toEqual([1, 0]); // all commands count the same way
  expect(await restoreLost(restoring(backup, key, { apply: false }))).toMatchObject({ manual_edits: 0 });

  await appendFile(first.journal ?? "", "no line\n");
  const planned = await restoreLost(restoring(backup, key, { apply: false, against: newer }));
  expect([planned.manual_edits, planned.warnings]).toEqual([
    1,
    [
      expect.stringMatching(
        /^rows that were restored earlier are not recognized: .*journal\.jsonl is damaged in line 6/,
      ),
    ],
  ]);
  await expect(restore()).rejects.toThrow("journal.jsonl is damaged in line 6");
  const text = await readFile(first.journal ?? "", "utf8");
  await writeFile(first.journal ?? "", text.slice(0, -"no line\n".length));

  reindex(); // loses the chunk that the first restore added
  expect(await restore()).toMatchObject({ status: "proved", counts: { chunks_added: 1 } });
  expect(await restore()).toMatchObject({ status: "nothing to restore" });
  expect(base.chunks).toHaveLength(2);
});
