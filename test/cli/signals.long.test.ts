import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { runHere } from "./run-here.js";
import { runKbdump } from "./run-kbdump.js";

const hook = fileURLToPath(new URL("signal-itself.mjs", import.meta.url));

test.each([
  [
    "SIGTERM",
    143,
    "kbdump: interrupted by SIGTERM; 1 of 1 document read; progress is kept; run the same command to resume\n",
  ],
  ["SIGINT,SIGINT", 130, ""],
])(
  "%s while DuckDB builds the database: exit %i, nothing published, and the next run has it all",
  async (signals, code, stderr) => {
    const store = new Store();
    const document = makeDocument({ chunks: 30, childrenPerChunk: 1 });
    const dataset = store.addDataset(document);
    const server = await startRealisticServer(store);
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const job = await jobFile(folder, {
      service: { base_url: server.url },
      datasets: [{ id: dataset.id, documents: [document.id] }],
      output: { dir: join(folder, "out"), formats: ["duckdb"] },
    });
    const env = { KNOWLEDGE_API_KEY: server.key };
    const signal = {
      SIGNALS: signals,
      SIGNAL_AT: "new.duckdb",
      SIGNAL_IN: join(folder, "out"),
      NODE_OPTIONS: `--import=${hook}`,
    };
    // A second signal ends the program at once, before it can print which signal it was.
    expect(await runKbdump(["run", job, "--quiet"], { ...env, ...signal })).toEqual({ code, stdout: "", stderr });
    expect(await readdir(join(folder, "out", "test"))).not.toContain("test.duckdb");
    expect(await readdir(join(folder, "out", "test", "runs"))).toEqual([]);
    const asked = server.requests.length;
    expect(await runHere(["run", job, "--quiet"], env)).toMatchObject({ code: 0, stderr: "" });
    expect(server.requests.length - asked).toBeLessThan(10);
    expect(await readdir(join(folder, "out", "test"))).toContain("test.duckdb");
  },
);
