import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { type Case, fullCases, quickCases } from "./cases.js";
import { type Line, runCases } from "./run-case.js";
import { measureStartUp } from "./start-up.js";
import { tableOf } from "./table.js";

/** `npm run bench [-- --quick] [--rounds N] [--only TEXT] [--against CHECKOUT]`: measures the built program and prints a table. */
export async function main(args: readonly string[]): Promise<void> {
  const quick = args.includes("--quick");
  const rounds = Number(flagValue(args, "--rounds") ?? (quick ? 1 : 3));
  const only = flagValue(args, "--only");
  const against = flagValue(args, "--against");
  const cases = (quick ? quickCases : fullCases).filter((each) => only === undefined || nameOf(each).includes(only));
  const scratch = await mkdtemp(join(tmpdir(), "kbdump-bench-"));
  try {
    const lines: Line[] = [];
    for (const [setting, these] of bySetting(cases)) {
      process.stderr.write(`${setting}\n`);
      const [first] = these;
      if (first)
        lines.push(
          ...(await runCases(
            first,
            these,
            first.dataset.documents * first.dataset.chunks > 500_000 ? 1 : rounds,
            scratch,
            against,
          )),
        );
    }
    const startUp = await measureStartUp(quick ? 3 : 11, scratch);
    process.stdout.write(`\n${machine()}\n\n${tableOf(lines, startUp)}`);
    await mkdir("output", { recursive: true });
    const result = { machine: machine(), date: new Date().toISOString(), rounds, start_up: startUp, lines };
    await writeFile("output/bench.json", `${JSON.stringify(result, undefined, 2)}\n`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function flagValue(args: readonly string[], name: string): string | undefined {
  return args.includes(name) ? args[args.indexOf(name) + 1] : undefined;
}

/** Names the setting that one server and one floor serve. */
function settingOf({ dataset, latency, inFlight }: Case): string {
  const { documents, chunks, childLists } = dataset;
  return `${documents} x ${chunks} chunks${childLists ? " with child lists" : ""}, ${latency} ms, ${inFlight} in flight`;
}

function nameOf(each: Case): string {
  return `${settingOf(each)}, ${each.formats.join(" ")}, ${each.consistency}`;
}

function bySetting(cases: readonly Case[]): ReadonlyMap<string, readonly Case[]> {
  const groups = new Map<string, Case[]>();
  for (const each of cases) groups.set(settingOf(each), [...(groups.get(settingOf(each)) ?? []), each]);
  return groups;
}

function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${first?.model.trim()}), ${memory} GiB, Node ${process.versions.node}, ${process.platform}`;
}
