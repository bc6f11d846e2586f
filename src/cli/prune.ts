import { exitCodes } from "../errors.js";
import { pruneJson, renderPrune } from "../terminal/prune-table.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import { defineCommand } from "./command.js";
import { commonOptions, environmentOption, jobFrom, jobPositional, outOption, viewFrom } from "./options.js";
import { printResult } from "./print-result.js";

const epilog = `Examples:
  kbdump prune nightly.yaml --dry-run
  kbdump prune nightly.yaml

A run stays if any rule of output.keep names it: last, daily, weekly, monthly. The newest complete run always stays.

Exit codes: 0 done · 1 some runs could not be removed · 2 wrong usage or job file, or a job without output.keep · 5 a run of this job is at work`;

/** `kbdump prune job.yaml`: removes the runs that `output.keep` does not name. */
export const pruneCommand = defineCommand({
  name: "prune <job>",
  about: "remove the runs that the job's output.keep does not name",
  positionals: { job: { ...jobPositional.job, demandOption: true } },
  options: {
    ...commonOptions,
    ...outOption,
    ...environmentOption,
    "dry-run": { type: "boolean", default: false, describe: "list what would be removed, and change nothing" },
  },
  epilog,
  async run(args, world) {
    const { dryRun, json } = args;
    const job = await jobFrom(args, {}, world);
    const { pruneJob } = await import("../keep/prune-job.js");
    const result = await pruneJob(job, {
      dryRun,
      log: viewFrom(args, world).log,
      env: world.env,
      signal: world.signal,
    });
    const text = json
      ? jsonLine(pruneJson(job.name, result, dryRun))
      : renderPrune(result, dryRun, pageFor(world.stdout, world.env));
    await printResult(world, text);
    return result.failures.length > 0 ? exitCodes.failed : exitCodes.complete;
  },
});
