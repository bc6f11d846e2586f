import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Case, roundsOf } from "./cases.js";
import { chooseLines } from "./choose-lines.js";
import { machine } from "./machine.js";
import { type Line, runCases } from "./run-case.js";
import { measureStartUp } from "./start-up.js";
import { tableOf } from "./table.js";

/** `npm run bench [-- --quick] [--rounds N] [--only TEXT] [--against CHECKOUT]`: measures the built program and prints a table. */
export async function main(args: readonly string[]): Promise<void> {
  const { quick, only, rounds, against } = optionsIn(args);
  const choice = chooseLines(quick, only);
  const scratch = await mkdtemp(join(tmpdir(), "kbdump-bench-"));
  try {
    const lines: Line[] = [];
    for (const [environment, cases] of byEnvironment(choice.cases)) {
      process.stderr.write(`${environment}\n`);
      const [first] = cases;
      if (first) lines.push(...(await runCases(first, cases, roundsOf(first, rounds), scratch, against)));
    }
    const startUp = choice.startUp ? await measureStartUp(quick ? 3 : 11, scratch) : undefined;
    process.stdout.write(`\n${machine()}\n\n${tableOf(lines, startUp)}`);
    await mkdir("output", { recursive: true });
    const result = { machine: machine(), date: new Date().toISOString(), rounds, start_up: startUp, lines };
    await writeFile("output/bench.json", `${JSON.stringify(result, undefined, 2)}\n`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function optionsIn(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string" },
      against: { type: "string" },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds} is no number from 1 on.`);
  return { ...values, rounds };
}

/** A text that is equal for cases that share an environment, and therefore a server. */
function environmentOf({ dataset, latency, inFlight }: Case): string {
  const { documents, chunks, childLists, embedsChildren } = dataset;
  const children = embedsChildren ? " that embed children" : childLists ? " with child lists" : "";
  return `${documents} x ${chunks} chunks${children}, ${latency} ms, ${inFlight} in flight`;
}

function byEnvironment(cases: readonly Case[]): ReadonlyMap<string, readonly Case[]> {
  const groups = new Map<string, Case[]>();
  for (const each of cases) groups.set(environmentOf(each), [...(groups.get(environmentOf(each)) ?? []), each]);
  return groups;
}
