import { exitCodes, UsageError } from "../errors.js";
import { emptyReadTally } from "../read-tally.js";
import type { VerifyResult } from "../results/verify.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import { renderVerification } from "../terminal/verification.js";
import { renderReading } from "../terminal/verify-progress.js";
import { defineCommand } from "./command.js";
import { commonOptions, memoryOption, viewFrom } from "./options.js";
import { printResult } from "./print-result.js";

const epilog = `Examples:
  kbdump verify output/nightly/latest
  kbdump verify output/nightly/runs/20261120T020000123Z --duckdb --json

Exit codes: 0 sound · 1 could not be checked · 2 wrong usage, or no dump · 4 something is not as it should be ·
130, 143 interrupted`;

/** `kbdump verify <run folder>`: reads what was written and proves it again. */
export const verifyCommand = defineCommand({
  name: "verify <folder>",
  about: "read a run folder anew and prove that everything in it is as it should be",
  positionals: {
    folder: { type: "string", demandOption: true, describe: "folder of a run: the one with manifest.json" },
  },
  options: {
    ...commonOptions,
    duckdb: {
      type: "string",
      describe: "also compare with <job>.duckdb beside the runs folder, or with --duckdb=PATH",
    },
    ...memoryOption,
  },
  epilog,
  async run(args, world) {
    const { folder, duckdb, memory, json } = args;
    const { checkMemory } = await import("../job/check-memory.js");
    const problems = checkMemory(memory);
    if (problems.length > 0) throw new UsageError("Nothing was checked:", problems);
    const { verifyRun } = await import("../verify/verify-run.js"); // heavy, as job is; --help does without
    const tally = emptyReadTally();
    const unwatch = viewFrom(args, world).watch(renderReading(tally));
    const setting = { tally, memory, signal: world.signal, duckdb: duckdb === undefined ? false : duckdb || true };
    const verification = await verifyRun(folder, setting).finally(unwatch);
    const text = json
      ? jsonLine(verification satisfies VerifyResult)
      : renderVerification(verification, pageFor(world.stdout, world.env));
    await printResult(world, text);
    return verification.status === "sound" ? exitCodes.complete : exitCodes.differences;
  },
});
