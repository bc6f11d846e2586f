import { exitCodes } from "../errors.js";
import { emptyRunTally } from "../job/run-tally.js";

import type { PlanResult } from "../results/plan.js";
import { renderPlan } from "../terminal/plan-table.js";
import { renderRun } from "../terminal/progress.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import { defineCommand } from "./command.js";
import { checkJobIsNamed } from "./line/job-is-named.js";
import { wholeNumberFrom } from "./line/whole-number.js";
import { wrongLine } from "./line/wrong-line.js";
import {
  commonOptions,
  formatOption,
  jobFrom,
  jobOptions,
  jobPositional,
  paceOption,
  readingOptions,
  viewFrom,
} from "./options.js";

const epilog = `Examples:
  kbdump plan nightly.yaml
  kbdump plan nightly.yaml --exact --json
  kbdump plan nightly.yaml --documents-out list.json
  kbdump plan --base-url https://kb.example.com/v1 --dataset UUID --document UUID

Exit codes: 0 everything could be asked · 1 nothing could be asked, or the key is refused · 2 wrong usage or job file · 3 some documents or lists cannot be read · 130, 143 interrupted`;

/** `kbdump plan [job.yaml]`: what a run would read and take; writes nothing but the list of documents, if asked to. */
export const planCommand = defineCommand({
  name: "plan [job]",
  about: "ask the service what is there, and forecast a run; writes nothing but --documents-out",
  positionals: jobPositional,
  options: {
    ...jobOptions,
    ...commonOptions,
    ...formatOption,
    ...paceOption,
    ...readingOptions,
    budget: { describe: "requests to spend on exact numbers, beyond two per document; default: 1000" },
    exact: {
      type: "boolean",
      conflicts: "budget",
      describe: "spend as many requests as exact numbers take, at most as many as the run itself",
    },
    "documents-out": {
      type: "string",
      names: "file",
      describe: "write the proved list of documents to this file, for run --documents-from; refused if it is not whole",
    },
  },
  epilog,
  async run(args, world) {
    const { format, maxRps, childChunks, consistency, exact } = args;
    checkJobIsNamed("plan", args);
    if (args.documentsOut === "") throw wrongLine([noFile]);
    const budget = exact ? Number.POSITIVE_INFINITY : budgetFrom(args.budget);
    const job = await jobFrom(args, { format, maxRps, childChunks, consistency }, world);
    const { planJob } = await import("../plan/plan-job.js"); // heavy; --help does without
    const view = viewFrom(args, world);
    const tally = emptyRunTally();
    const unwatch = view.watch(renderRun(tally));
    const setting = {
      env: world.env,
      signal: world.signal,
      tally,
      log: view.log,
      budget,
      documentsOut: args.documentsOut,
    };
    const plan = await planJob(job, setting).finally(unwatch);
    world.stdout.write(
      `${args.json ? jsonLine(plan satisfies PlanResult) : renderPlan(plan, pageFor(world.stdout, world.env))}\n`,
    );
    return plan.status === "complete" ? exitCodes.complete : exitCodes.partial;
  },
});

const noFile = { path: "--documents-out", message: 'got "", expected the path of a file' };

function budgetFrom(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const budget = wholeNumberFrom("--budget", given, 0);
  if (typeof budget === "number") return budget;
  throw wrongLine([budget]);
}
