import { exitCodes, UsageError } from "../errors.js";
import type { PlanResult } from "../results/plan.js";
import { emptyRunTally } from "../run/setting/run-tally.js";
import { renderPlan } from "../terminal/plan-table.js";
import { renderRun } from "../terminal/progress.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import { defineCommand } from "./command.js";
import { commonOptions, formatOption, jobFrom, jobOptions, jobPositional, paceOption, viewFrom } from "./options.js";

const epilog = `Examples:
  kbdump plan nightly.yaml
  kbdump plan nightly.yaml --exact --json
  kbdump plan --base-url https://kb.example.com/v1 --dataset UUID --document UUID

Exit codes: 0 everything could be asked · 1 nothing could be asked, or the key is refused · 2 wrong usage or job file ·
3 some documents or lists cannot be read · 130, 143 interrupted`;

/** `kbdump plan [job.yaml]`: what a run would read and take; writes nothing. */
export const planCommand = defineCommand({
  name: "plan [job]",
  about: "ask what is there, forecast a run, and name the service's quirks; writes nothing",
  positionals: jobPositional,
  options: {
    ...jobOptions,
    ...commonOptions,
    ...formatOption,
    ...paceOption,
    "child-chunks": { type: "string", describe: "all, auto or none: the mode of this job" },
    consistency: {
      type: "string",
      describe: "sweeps, anchored or counts: how the run is to prove that lists are whole",
    },
    budget: {
      type: "number",
      describe: "requests to spend on exact numbers, beyond two for each document; 1000 by default",
    },
    exact: {
      type: "boolean",
      conflicts: "budget",
      describe: "spend as many as it takes: where chunks do not carry their children, as many as the run itself",
    },
  },
  epilog,
  async run(args, world) {
    const { format, maxRps, childChunks, consistency, exact } = args;
    const budget = exact ? Number.POSITIVE_INFINITY : checkBudget(args.budget);
    const job = await jobFrom(args, { format, maxRps, childChunks, consistency }, world);
    const { planJob } = await import("../plan/plan-job.js"); // heavy; --help does without
    const view = viewFrom(args, world);
    const tally = emptyRunTally();
    const unwatch = view.watch(renderRun(tally));
    const setting = { env: world.env, signal: world.signal, tally, log: view.log, budget };
    const plan = await planJob(job, setting).finally(unwatch);
    world.stdout.write(
      `${args.json ? jsonLine(plan satisfies PlanResult) : renderPlan(plan, pageFor(world.stdout, world.env))}\n`,
    );
    return plan.status === "complete" ? exitCodes.complete : exitCodes.partial;
  },
});

function checkBudget(budget: number | undefined): number | undefined {
  if (budget === undefined || (Number.isSafeInteger(budget) && budget >= 0)) return budget;
  throw new UsageError("Nothing was asked:", [{ path: "--budget", message: "expected a whole number from 0 on" }]);
}
