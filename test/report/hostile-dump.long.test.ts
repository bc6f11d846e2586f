import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runKbdump } from "../cli/run-kbdump.js";
import { rounds } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { reindex } from "../servers/edits.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store, type TestDocument } from "../servers/store.js";
import { hasBrowser, useBrowser } from "./browser/open-report.js";
import { hostileTexts } from "./page/hostile-texts.js";

const browser = useBrowser();

/** Serves these documents, and runs the built program on them. */
async function serve(...documents: TestDocument[]) {
  const store = new Store();
  const dataset = store.addDataset(...documents);
  dataset.name = hostileTexts[0] ?? "";
  const entries = documents.map(({ id, name }) => makeStatusEntry(id, { error: name, completed_at: null }));
  dataset.batches.set("batch", entries);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const file = await jobFile(await testFolder(), {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: "all", batches: ["batch"] }],
    child_chunks: "auto",
    consistency: "counts",
    output: { formats: ["jsonl", "duckdb"] },
  });
  const kbdump = async (...args: readonly string[]) => {
    const { code, stderr } = await runKbdump([...args, "--quiet"], { KNOWLEDGE_API_KEY: server.key }, dirname(file));
    expect(code, stderr).toBe(0);
  };
  const report = async () => {
    const path = join(dirname(file), "report.html");
    await kbdump("report", "test", "--out", "out", "--against", "test", "--file", path);
    return path;
  };
  return { run: () => kbdump("run", file), report };
}

/** A document whose chunks say these texts, in everything that the service may fill with text. */
function documentOf(texts: readonly string[], seed: number): TestDocument {
  const document = makeDocument({ chunks: texts.length, docForm: "qa_model", seed });
  document.name = texts[seed % texts.length] ?? "";
  document.chunks.forEach((chunk, at) => {
    const text = (shift: number) => texts[(at + shift) % texts.length] ?? "";
    Object.assign(chunk, { position: at + 1, content: text(0), answer: text(1), keywords: [text(2)], error: text(3) });
    Object.assign(chunk, { sign_content: text(0), disabled_by: text(4), enabled: at % 3 > 0, summary: text(5) });
    Object.assign(chunk, { status: at % 4 === 0 ? "error" : "completed", updated_by: text(6), hit_count: at % 2 });
  });
  return document;
}

/** Takes a word from every chunk, and gives all of them new ids, as a re-index does with what people edited. */
function loseWords(documents: readonly TestDocument[]): void {
  for (const [at, document] of documents.entries()) {
    reindex(document, 5000 + at);
    for (const chunk of document.chunks) chunk.content = `${String(chunk.content).slice(0, 500)} as of old`;
  }
}

test("a page of many long texts, each five times as long when escaped, stays below 2 MB", async () => {
  const count = rounds(15, 400, "KBDUMP_REPORT_DOCUMENTS");
  const texts = Array.from({ length: 10 }, (_, at) => `${at}${"&\"'<>".repeat(400)}`);
  const documents = Array.from({ length: count }, (_, at) => documentOf(texts, at + 1));
  const { run, report } = await serve(...documents);
  await run();
  loseWords(documents);
  await run();
  const { size } = await stat(await report());
  expect(size).toBeGreaterThan(200_000);
  expect(size).toBeLessThan(2_000_000);
}, 300_000);

describe.skipIf(!hasBrowser)("a dump of a hostile service", () => {
  test("its report, opened in a browser, does nothing that the service wants", async () => {
    const document = documentOf(hostileTexts, 1);
    const { run, report } = await serve(document);
    await run();
    loseWords([document]);
    await run();
    const path = await report();
    expect((await stat(path)).size).toBeLessThan(2_000_000);
    const { page, complaints, close } = await browser.openFile(path, { viewport: { width: 360, height: 800 } });
    expect(await page.locator("h1").count()).toBe(1);
    expect(await page.locator("main > section").count()).toBe(8);
    expect(await page.locator("script").count()).toBe(1);
    expect(await page.locator("img, iframe, object, embed, form, base, link, plaintext").count()).toBe(0);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(await page.locator("body").innerText()).toContain("onerror=alert(1)"); // as text
    expect(complaints).toEqual([]);
    await close();
  });
});
