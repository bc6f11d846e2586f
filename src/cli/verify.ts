import { exitCodes } from "../errors.js";
import { emptyReadTally } from "../read-tally.js";
import type { VerifyResult } from "../results/verify.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import { renderVerification } from "../terminal/verification.js";
import { renderReading } from "../terminal/verify-progress.js";
import { defineCommand } from "./command.js";
import { wrongLine } from "./line/wrong-line.js";
import { commonOptions, dirOption, environmentOption, memoryOption, viewFrom } from "./options.js";
import { printResult } from "./print-result.js";

const epilog = `Examples:
  kbdump verify nightly
  kbdump verify nightly.yaml
  kbdump verify output/nightly/runs/20261120T020000123Z --duckdb --json

Exit codes: 0 sound · 1 could not be checked · 2 wrong usage, or no such run · 4 something is wrong with the dump · 130, 143 interrupted`;

/** `kbdump verify <run>`: reads what was written and proves it again. */
export const verifyCommand = defineCommand({
  name: "verify <run>",
  about: "read a run again, and prove that it is complete and unchanged",
  positionals: {
    run: {
      type: "string",
      demandOption: true,
      names: "folder",
      describe: "run folder, or a job: its newest complete run",
    },
  },
  options: {
    ...commonOptions,
    duckdb: {
      type: "string",
      valueIsOptional: true,
      describe: "compare with <job>.duckdb beside the runs, too, or with the file of --duckdb=PATH",
    },
    ...dirOption,
    ...memoryOption,
    ...environmentOption,
  },
  epilog,
  async run(args, world) {
    const { dir, duckdb, memory, json } = args;
    const { checkMemory } = await import("../job/check-memory.js");
    const problems = checkMemory(memory);
    if (problems.length > 0) throw wrongLine(problems);
    const { findRun } = await import("../locate/find-run.js");
    const folder = await findRun(args.run, { dir, env: world.env });
    const { verifyRun } = await import("../verify/verify-run.js"); // heavy, as job is; --help does without
    const tally = emptyReadTally();
    const view = viewFrom(args, world);
    if (folder !== args.run) view.log("info", `verifying ${folder}`);
    const unwatch = view.watch(renderReading(tally));
    const setting = { tally, memory, signal: world.signal, duckdb: duckdb === undefined ? false : duckdb || true };
    const verification = await verifyRun(folder, setting).finally(unwatch);
    const text = json
      ? jsonLine(verification satisfies VerifyResult)
      : renderVerification(verification, pageFor(world.stdout, world.env));
    await printResult(world, text);
    return verification.status === "sound" ? exitCodes.complete : exitCodes.differences;
  },
});
