import { expect, onTestFinished, test } from "vitest";
import { compareWithService } from "../../../src/against/against-service.js";
import { productKnowledge } from "../../../src/demo/sample/outlines.js";
import { buildDataset } from "../../../src/demo/sample/sample-knowledge.js";
import { startService } from "../../../src/demo/start-service.js";
import type { CopyOptions } from "../../../src/restore/copy/copy-result.js";
import { copyRun } from "../../../src/restore/copy/copy-run.js";
import { exitCodeOf } from "../../../src/restore/result.js";
import { runJob } from "../../../src/run/run-job.js";
import { readRows } from "../../demo/ask.js";
import { rounds } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { type Fate, openLossyWire } from "../../servers/lossy-wire.js";
import { writableKnowledge } from "../../servers/writable/writable-knowledge.js";
import { copying } from "./copying.js";
import { handbook } from "./made-copy.js";
import { shortOutline } from "./short-outline.js";

const few = 3;
const allRestored = productKnowledge.documents.map(() => "restored");
const names = ["Product knowledge (2)", "Product knowledge (qa_model)", "Product knowledge (text_model)"];
const forms = ["hierarchical_model", "qa_model", "text_model"];

/**
 * A run of the sample dataset whose documents have three forms, and a proxy in front of its service that decides the
 * fate of writes. `copy` copies the run into the same service.
 */
async function backedUp(most: number) {
  const clock = () => new Date();
  const options = { indexingTime: 0, indexingSeconds: 0 };
  const service = await startService({
    demo: writableKnowledge([buildDataset(shortOutline(productKnowledge, most), clock)], clock, options),
  });
  const { key } = service;
  const decider = { url: "", decide: (_path: string): Fate => "pass" };
  const wire = await openLossyWire(service.url, ({ method, path }) =>
    method === "GET" ? "pass" : decider.decide(path),
  );
  decider.url = wire.url;
  onTestFinished(async () => {
    await wire.close();
    await service.close();
  });
  const job = await jobFor(await testFolder(), {
    service: { base_url: wire.url },
    datasets: [{ id: handbook, documents: "all" }],
    details: true,
    output: { formats: ["jsonl"] },
  });
  const { folder } = await runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  const copy = (more: Partial<CopyOptions> = {}) => copyRun(copying(folder, { url: wire.url, key }, more));
  const compare = () => {
    const progress = { step: "", expected: 0, done: 0, dump: undefined };
    return compareWithService({ ...copying(folder, { url: wire.url, key }), progress });
  };
  /** The datasets that the copy created, by name, with the forms of their documents. */
  const copies = async () => {
    const datasets = (await readRows(service, "/datasets?limit=100")).filter(({ id }) => id !== handbook);
    const made = datasets.map(async ({ id, name }) => {
      const documents = await readRows(service, `/datasets/${id}/documents?limit=100`);
      return { id, name: String(name), forms: new Set(documents.map(({ doc_form }) => doc_form)) };
    });
    return (await Promise.all(made)).sort((one, other) => (one.name < other.name ? -1 : 1));
  };
  return { service, decider, copy, compare, copies };
}

test("documents of several forms come into one dataset for each form, and compare as equal", async () => {
  const { service, copy, compare, copies } = await backedUp(rounds(few, Number.POSITIVE_INFINITY));
  const copied = await copy();
  expect([copied.status, copied.differences, exitCodeOf(copied)]).toEqual(["proved", [], 0]);
  expect(copied.applied?.documents.map(({ outcome }) => outcome)).toEqual(allRestored);
  const made = await copies();
  expect(made.map(({ name }) => name)).toEqual(names);
  expect(made.map((each) => [...each.forms])).toEqual(forms.map((form) => [form]));
  expect(await compare()).toMatchObject({ copies: true, documents: allRestored.length, differences: [] });
  const again = await copy();
  expect([again.status, again.applied?.writes, again.counts.there]).toEqual(["proved", copied.applied?.writes, 7]);
  const [, questions] = made;
  const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
  const init = { method: "PATCH", headers, body: JSON.stringify({ description: "Questions" }) };
  expect((await fetch(`${service.url}/datasets/${questions?.id}`, init)).status).toBe(200);
  expect((await compare()).differences).toMatchObject([
    {
      level: "dataset",
      id: handbook,
      reason: expect.stringMatching(`^its description is .* \\(dataset ${questions?.id}\\)$`),
    },
  ]);
}, 600_000);

test.each<Fate>(["lose answer", "lose request"])(
  "a copy that ends between two of the datasets (%s) continues with the first and makes the others once",
  async (fate) => {
    const { decider, copy, compare, copies } = await backedUp(few);
    const broken = new AbortController();
    let datasets = 0;
    decider.decide = (path) => {
      if (!path.endsWith("/datasets") || ++datasets !== 2) return "pass";
      broken.abort(new Error("broken off"));
      return fate;
    };
    await expect(copy({ signal: broken.signal })).rejects.toThrow("broken off");
    const [first] = await copies();
    const { status, differences, applied } = await copy();
    expect([status, differences]).toEqual(["proved", []]);
    expect(applied?.documents.map(({ outcome }) => outcome)).toEqual(allRestored);
    const made = await copies();
    expect(made.map(({ name }) => name)).toEqual(names);
    expect(made.map((each) => [...each.forms])).toEqual(forms.map((form) => [form]));
    expect(made.map(({ id }) => id)).toContain(first?.id);
    expect(await compare()).toMatchObject({ documents: allRestored.length, differences: [] });
    expect(datasets).toBe(fate === "lose answer" ? 3 : 4);
  },
  60_000,
);
