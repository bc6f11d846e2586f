import { expect, onTestFinished, test } from "vitest";
import { finished, startKbdump } from "../cli/run-kbdump.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFile, testFolder } from "./job-for.js";
import { peakMemory } from "./peak-memory.js";

/**
 * The maximum memory of a run in MB. Node 24 needs more: its young generation is twice as large, unless NODE_OPTIONS has
 * --max-semi-space-size=16.
 */
const bound = Number(process.versions.node.split(".")[0]) >= 24 ? 420 : 300;
/** So many rows that keeping them in memory would exceed the bound. */
const chunks = 100_000;

test.runIf(process.platform === "linux")(
  `${chunks} chunks in one document at 8 in flight take less than ${bound} MB`,
  async () => {
    const store = new Store();
    const document = makeDocument({ chunks });
    const dataset = store.addDataset(document);
    const server = await startRealisticServer(store);
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const output = { formats: ["jsonl", "csv"], dir: folder };
    const datasets = [{ id: dataset.id, documents: [document.id] }];
    const job = await jobFile(folder, { service: { base_url: server.url }, datasets, child_chunks: "none", output });

    const child = startKbdump(["run", job, "--json", "--quiet"], { KNOWLEDGE_API_KEY: server.key });
    const done = finished(child);
    const peak = await peakMemory(child.pid, done);
    const { code, stdout } = await done;
    expect(code).toBe(0);
    expect(JSON.parse(stdout).counts).toMatchObject({ chunks });
    expect(peak).toBeGreaterThan(50);
    expect(peak).toBeLessThan(bound);
  },
  180_000,
);
