import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { writeReport } from "../../../src/report/render-report.js";
import { runJob } from "../../../src/run/run-job.js";
import { rounds } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store, type TestDocument } from "../../servers/store.js";

/** A word that appears in no template, number or id. It shows whether a text got into the page, even in changed form. */
const mark = "qxzwq";

/** Random texts, including hostile ones, that all contain the mark. */
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "</script>",
        "<img src=x onerror=alert(1)>",
        "\u202e",
        "'; DROP TABLE chunks; --",
        "&amp;",
        "\u0000",
      ),
      fc.string({ unit: "binary", maxLength: 12 }),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((pieces) => `${mark} ${pieces.join("").toWellFormed()} ${mark}`);

/** Puts the text into every field that a service may fill. */
function spoil(document: TestDocument, text: string): void {
  document.name = `${text}.md`;
  for (const [at, chunk] of document.chunks.entries()) {
    Object.assign(chunk, {
      content: `${text} ${at % 2}`,
      answer: text,
      keywords: [text],
      summary: text,
      sign_content: null,
    });
    Object.assign(chunk, { error: at % 3 === 0 ? text : null, status: at % 3 === 0 ? "error" : "completed" });
    Object.assign(chunk, {
      enabled: at % 4 !== 0,
      disabled_by: at % 4 === 0 ? text : null,
      created_by: text,
      [text]: text,
    });
    if (at % 2 === 0) Object.assign(chunk, { updated_by: text, updated_at: Number(chunk.created_at) + 60 });
  }
  for (const children of document.children.values())
    for (const child of children) Object.assign(child, { content: text, type: "customized" });
}

/** Two runs of a knowledge base with this text in every field; a re-index in between removes the manual edits. */
async function startRuns(text: string) {
  const document = makeDocument({ chunks: 9, childrenPerChunk: 1 });
  const failing = makeDocument({ chunks: 3, seed: 2 });
  const store = new Store();
  const dataset = store.addDataset(document, failing);
  dataset.name = text;
  const entry = { indexing_status: "error", error: text };
  dataset.batches.set("2025", [makeStatusEntry(document.id, entry), makeStatusEntry(failing.id)]);
  for (const each of [document, failing]) spoil(each, text);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: server.url, retries: 0 },
    datasets: [{ id: dataset.id, documents: "all", batches: ["2025"] }],
    output: { formats: ["jsonl", "duckdb"] },
  });
  const options = { env: { KNOWLEDGE_API_KEY: server.key } };
  const before = await runJob(job, options);
  document.chunks.splice(0, 2);
  for (const chunk of document.chunks)
    Object.assign(chunk, { id: crypto.randomUUID(), content: `${text} cut anew`, updated_by: null });
  document.children.clear();
  const after = await runJob(job, options);
  return { folder, before, after };
}

test("without content, no text of the service is in the page, and with it, all of them may be", async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const { folder, before, after } = await startRuns(text);
      const path = join(folder, "page.html");
      const request = { folder: after.folder, against: before.folder };
      const { lost, path: written, ...summary } = await writeReport(path, { ...request, content: false });
      const page = await readFile(written, "utf8");
      expect(lost).toBeGreaterThan(0);
      expect(page.match(new RegExp(`.{0,80}${mark}.{0,80}`, "is"))?.[0]).toBeUndefined();
      expect(JSON.stringify(summary).toLowerCase()).not.toContain(mark);
      await writeReport(path, { ...request, verify: false });
      expect((await readFile(path, "utf8")).split(mark).length).toBeGreaterThan(20);
    }),
    { numRuns: rounds(2, 20) },
  );
}, 600_000);
