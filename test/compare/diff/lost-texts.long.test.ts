import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { pageFor } from "../../../src/cli/text.js";
import { renderDiff } from "../../../src/commands/diff/table.js";
import { withRunDiff } from "../../../src/compare/diff-runs.js";
import { sampleKnowledge } from "../../../src/demo/sample/sample-knowledge.js";
import { startService } from "../../../src/demo/start-service.js";
import { runJob } from "../../../src/run/run-job.js";
import { runHere } from "../../cli/run-here.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { chunk } from "../../verify/sound-tables.js";
import { tablesOf, twoDumps } from "./dumps.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const document = "1e63378f-0ff6-41a4-8f48-687d51b4e63d";

/** Dumps a sample document before and after its re-index. */
async function dumpTwice(): Promise<readonly [string, string]> {
  let seconds = 0;
  const service = await startService({
    key: "demo-key",
    demo: sampleKnowledge(() => new Date(1_750_000_000_000 + seconds * 1000)),
  });
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

test("the table shows the text that a re-index removed beside the one that replaced it", async () => {
  const [before, after] = await dumpTwice();
  const { code, stdout } = await runHere(["diff", before, after, "--quiet"]);
  expect(code).toBe(4);
  const [, manual = ""] = stdout.split("Lost, with manual edits:\n");
  const texts = [...manual.matchAll(/\n {6}- (.*)\n {6}\+ (.*)\n/g)];
  expect(texts.length).toBe(manual.match(/^ {4}changed chunk/gm)?.length);
  expect(texts.length).toBeGreaterThan(10);
  for (const [, old = "", fresh = ""] of texts) expect(old.length).toBeGreaterThan(fresh.length);
  expect(manual).toMatch(/removed chunk at \d+ \S+\n {6}(added|edited) by hand\n {6}- \S/);
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

test("the first lost texts come in their order, however long one of them is", async () => {
  const long = "word ".repeat(200_000); // long enough that texts are read eight at a time
  const side = (name: string, more: string, updated_by: string | null) =>
    tablesOf(
      Array.from({ length: 20 }, (_, at) => {
        const content = `${at}${more} ${at === 3 ? long : ""}`;
        return chunk("a", `${name}${at}`, { position: at + 1, content, updated_by });
      }),
    );
  const [old, fresh] = await twoDumps(side("old", " by hand", "ann"), side("new", "", null));
  await withRunDiff(old, fresh, { text: "lost" }, async (_, changes) => {
    for (const most of [0, 1, 8, 9, 19, 20, 100]) {
      const first = await changes.first("manual edits", most);
      expect(first.map(({ old_id }) => old_id)).toEqual(
        Array.from({ length: Math.min(most, 20) }, (_, at) => `old${at}`),
      );
      expect(first.every(({ text }) => text?.content?.some(({ kind }) => kind === "removed"))).toBe(true);
    }
  });
});
