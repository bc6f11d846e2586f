import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { withRunDiff } from "../../src/diff/diff-runs.js";
import { runJob } from "../../src/run/run-job.js";
import { renderDiff } from "../../src/terminal/diff-table.js";
import { pageFor } from "../../src/terminal/text.js";
import { runHere } from "../cli/run-here.js";
import { jobFor, testFolder } from "../run/job-for.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const document = "1e63378f-0ff6-41a4-8f48-687d51b4e63d";

/** Dumps a document of the sample data before and after its re-index. */
async function dumpTwice(): Promise<readonly [string, string]> {
  let seconds = 0;
  const service = await startService({ key: "demo-key", clock: () => new Date(1_750_000_000_000 + seconds * 1000) });
  onTestFinished(() => service.close());
  const job = await jobFor(await testFolder(), {
    service: { base_url: service.url },
    datasets: [{ id: dataset, documents: [document] }],
    child_chunks: "none",
    output: { formats: ["jsonl"] },
  });
  const dump = async () => (await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } })).folder;
  const before = await dump();
  const headers = { authorization: `Bearer ${service.key}` };
  await fetch(service.url.replace(/\/v1$/, `/demo/reindex/${document}?seconds=1`), { method: "POST", headers });
  seconds = 10;
  return [before, await dump()];
}

test("the table shows the text that a re-index took, beside the one that took its place", async () => {
  const [before, after] = await dumpTwice();
  const { code, stdout } = await runHere(["diff", before, after, "--quiet"]);
  expect(code).toBe(4);
  const [, byHand = ""] = stdout.split("Lost by the re-index, made by hand:\n");
  const texts = [...byHand.matchAll(/\n {6}- (.*)\n {6}\+ (.*)\n/g)];
  expect(texts.length).toBe(byHand.match(/^ {4}changed chunk/gm)?.length);
  expect(texts.length).toBeGreaterThan(10);
  for (const [, old = "", fresh = ""] of texts) expect(old.length).toBeGreaterThan(fresh.length);
  expect(byHand).toMatch(/removed chunk at \d+ \S+\n {6}(added|edited) by hand\n {6}- \S/);
  expect(stdout).toContain(
    "- The gateway reports its battery level when the mains supply returns. Each sensor reports",
  );

  await withRunDiff(before, after, { text: "lost" }, async (diff, changes) => {
    const page = { ...pageFor({ isTTY: true, columns: 60 }, {}), documentsOnly: false, words: false };
    const table = stripVTControlCharacters(await renderDiff(diff, changes, page));
    expect(table).toMatch(/\n {6}- .*(\n {8}\S.*){1,2}\n {6}\+ /);
    for await (const change of changes.all()) expect(change.text).toBeUndefined();
  });
});
