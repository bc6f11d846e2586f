import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeError } from "../../src/cli/output.js";
import { runKbdump } from "../cli/run-kbdump.js";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";

const missing = /^kbdump: DuckDB is not installed for this machine \(\S+\)\. Run npm install again in the folder .*\n$/;
const withoutDuckDb = { NODE_OPTIONS: `--require=${join(import.meta.dirname, "without-duckdb.cjs")}` };

test.runIf(inFull)(
  "without DuckDB, jsonl is written; what needs it says how to install it, a run before it reads for hours",
  async () => {
    const store = new Store();
    const dataset = store.addDataset(makeDocument({ chunks: 60 }));
    const server = await startRealisticServer(store);
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const job = await jobFile(folder, {
      service: { base_url: server.url },
      datasets: [{ id: dataset.id, documents: "all" }],
      output: { formats: ["jsonl"] },
    });
    const start = (...args: string[]) => runKbdump(args, { KNOWLEDGE_API_KEY: server.key, ...withoutDuckDb }, folder);
    const reported = { code: 1, stdout: "", stderr: expect.stringMatching(missing) };

    expect(await start("run", job, "--quiet")).toMatchObject({ code: 0, stderr: "" });
    const latest = join(folder, "out", "test", "latest");
    expect(await start("verify", latest, "--quiet")).toEqual(reported);
    expect(await start("sql", latest, "SELECT 1")).toEqual(reported);

    server.reset();
    expect(await start("run", job, "--format", "parquet", "--max-rps", "10", "--quiet")).toEqual(reported);
    expect(server.requests.length).toBeLessThan(30); // a whole run would need about 70
  },
);

test("a DuckDB that does not run here, or that there is none of, is no fault of kbdump", () => {
  const unloadable = Object.assign(new Error("libstdc++.so.6: not found (required by duckdb.node)"), {
    code: "ERR_DLOPEN_FAILED",
  });
  expect(describeError(unloadable)).toMatchObject({
    unexpected: false,
    message: expect.stringMatching(/^DuckDB does not run on this machine \(\S+\): libstdc.* Write only /),
  });
  const unknown = new Error("Error loading duckdb native binding: unsupported arch 'riscv64' for platform 'linux'");
  expect(describeError(unknown)).toMatchObject({
    unexpected: false,
    message: expect.stringMatching(/^there is no DuckDB for this machine/),
  });
  expect(describeError(new Error("Cannot find module 'x'"))).toMatchObject({ unexpected: true });
});
