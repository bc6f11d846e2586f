import type { Argv } from "yargs";
import { exitCodes } from "../errors.js";
import { pruneJson, renderPrune } from "../terminal/prune-table.js";
import { jsonLine, paintFor } from "../terminal/text.js";
import type { Command } from "./command.js";
import { jobFrom, viewFrom, withCommonOptions } from "./options.js";
import { printResult } from "./print-result.js";

const epilog = `A run stays if any rule of output.keep names it: last, daily, weekly, monthly. The newest complete run always stays.

Examples:
  kbdump prune nightly.yaml --dry-run
  kbdump prune nightly.yaml

Exit codes: 0 done · 1 some runs could not be removed · 2 wrong usage or job file, or a job without output.keep ·
5 a run of this job is at work`;

const options = (yargs: Argv) =>
  withCommonOptions(yargs)
    .positional("job", { type: "string", demandOption: true, describe: "job file, YAML or JSON" })
    .option("out", { type: "string", describe: "output folder" })
    .option("dry-run", { type: "boolean", default: false, describe: "say what would be removed, and change nothing" })
    .epilog(epilog);

/** `kbdump prune job.yaml`: removes the runs that `output.keep` does not name. */
export const pruneCommand: Command = {
  name: "prune <job>",
  about: "remove the runs that the job's output.keep does not name",
  register: (yargs, world, done) =>
    yargs.command(pruneCommand.name, pruneCommand.about, options, async (argv) => {
      const job = await jobFrom(argv, {}, world);
      const { pruneJob } = await import("../keep/prune-job.js");
      const result = await pruneJob(job, { dryRun: argv.dryRun, log: viewFrom(argv, world).log });
      const text = argv.json
        ? jsonLine(pruneJson(job.name, result, argv.dryRun))
        : renderPrune(result, argv.dryRun, paintFor(world.stdout, world.env));
      await printResult(world, text);
      done(result.failures.length > 0 ? exitCodes.failed : exitCodes.complete);
    }),
};
