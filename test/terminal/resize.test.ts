import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { finished } from "../cli/run-kbdump.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../servers/store.js";
import { Screen } from "./screen.js";

const pseudoTerminal = fileURLToPath(new URL("pseudo-terminal.py", import.meta.url));
const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const canRun = spawnSync("python3", ["-c", "import pty, termios"]).status === 0;

/** A batch of three documents that never gets any further. */
async function startPlace() {
  const store = new Store();
  const documents = [1, 2, 3].map((seed) => makeDocument({ chunks: 1, seed }));
  const dataset = store.addDataset(...documents);
  const working = { indexing_status: "indexing", completed_at: null, completed_segments: 1, total_segments: 3 };
  const begun = { processing_started_at: Date.now() / 1000 };
  dataset.batches.set(
    "2026",
    documents.map(({ id }) => makeStatusEntry(id, { ...working, ...begun })),
  );
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const datasets = [{ id: dataset.id, documents: "all", batches: ["2026"] }];
  const job = await jobFile(await testFolder(), { service: { base_url: server.url }, datasets });
  return { job, env: { ...process.env, KNOWLEDGE_API_KEY: server.key } };
}

test.runIf(canRun)("on a real terminal a resize leaves nothing stale (needs Python's pty)", async () => {
  const { job, env } = await startPlace();
  const widths = [100, 60, 30, 120];
  const watch = [process.execPath, program, "status", job, "--watch", "--interval", "0.2", "--timeout", "3"];
  const child = spawn("python3", [pseudoTerminal, JSON.stringify(widths), ...watch], { env });
  const { stdout } = await finished(child);
  const screen = new Screen(widths[0] ?? 0);
  const shown: (readonly string[])[] = [];
  let pending = ""; // a piece may end amid a sequence
  for (const line of stdout.trimEnd().split("\n")) {
    const { columns, text = "" } = JSON.parse(line);
    pending += text;
    if (columns === undefined) continue;
    screen.write(pending);
    pending = "";
    shown.push(screen.rows);
    screen.columns = columns;
  }
  screen.write(pending);
  expect(shown).toHaveLength(widths.length);
  for (const rows of shown.slice(1)) {
    expect(rows.filter((row) => row.includes("documents comp"))).toHaveLength(1);
    expect(rows.filter((row) => row.includes("━"))).toHaveLength(3);
    expect(rows).toHaveLength(4);
  }
  expect(screen.lines[0]).toMatch(/^not completed in time: 3 documents /);
  expect(screen.lines.join("\n")).not.toContain("━");
});
