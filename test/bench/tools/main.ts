import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machine } from "../machine.js";
import { type Service, withService } from "../measure.js";
import { servedBetween } from "../served.js";
import { checkRows, countRows, type Written } from "./check-rows.js";
import { type Contestant, contestants } from "./contestants.js";
import { cacheFolder, installTools, type Tools } from "./install-tools.js";
import { measureTree } from "./measure-tree.js";
import { type Comparison, optionsIn } from "./options.js";
import { type Run, resultTable } from "./result-table.js";

/** Bypasses proxies, which cannot reach a service on this machine. */
const direct = { NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };

const report = (line: string) => {
  process.stderr.write(`${line}\n`);
};

/**
 * `npm run compare [-- --data 200x150] [--latency 20] [--in-flight 8] [--rounds 3]`: runs kbdump, dlt and elasticdump in turn
 * against one service with the same data, and prints a table.
 */
export async function main(args: readonly string[]): Promise<void> {
  const comparison = optionsIn(args);
  const tools = await installTools(cacheFolder(), report);
  const results = contestants.map((contestant) => ({ contestant, runs: [] as Run[] }));
  let first: Written | undefined;
  await withService(comparison, async (service) => {
    for (let round = 1; round <= comparison.rounds; round++) {
      const next = round % results.length; // each round starts with a different tool, because the first one has cold caches
      for (const { contestant, runs } of [...results.slice(next), ...results.slice(0, next)]) {
        report(`round ${round} of ${comparison.rounds}: ${contestant.name}, ${contestant.output}`);
        const { written, ...run } = await runOnce(contestant, comparison, tools, service);
        first ??= written;
        checkRows(contestant.name, comparison, written, first);
        runs.push(run);
      }
    }
  });
  const { dataset, latency, inFlight } = comparison;
  const data = `${dataset.documents} x ${dataset.chunks} chunks, ${latency} ms, ${inFlight} in flight`;
  process.stdout.write(`\n${machine()}\n${data}\n\n${resultTable(results)}`);
}

/** Runs one tool with a new folder, and counts the rows that it wrote. */
async function runOnce(
  contestant: Contestant,
  comparison: Comparison,
  tools: Tools,
  { origin, served }: Service,
): Promise<Run & { readonly written: Written }> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-compare-"));
  try {
    const started = contestant.start({ tools, comparison, origin, folder });
    const before = await served();
    const usage = await measureTree(started.command, { ...started.env, ...direct });
    const run = { ...usage, served: servedBetween(before, await served()) };
    return { ...run, written: await countRows(tools.python, started) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
