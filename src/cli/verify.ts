import { exitCodes } from "../errors.js";
import { emptyReadTally } from "../read-tally.js";
import type { Against, AgainstOptions } from "../restore/copy/against.js";
import type { VerifyResult } from "../results/verify.js";
import { bucketNames } from "../store/copy/bucket-names.js";

import type { RunToFetch } from "../store/find-run.js";
import { renderAgainst } from "../terminal/move/against.js";
import { renderComparing } from "../terminal/move/against-progress.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import { renderVerification } from "../terminal/verification.js";
import { renderReading } from "../terminal/verify-progress.js";
import type { View } from "../terminal/view.js";
import type { Verification } from "../verify/findings.js";
import { defineCommand } from "./command.js";
import { placesFrom, viewFrom } from "./options.js";
import { printResult } from "./print-result.js";
import { againstFrom, checkArguments, options, type VerifyArguments } from "./verify/verify-flags.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump verify nightly
  kbdump verify nightly.yaml
  kbdump verify output/nightly/runs/20261120T020000123Z --duckdb --json
  kbdump verify nightly --against https://kb.example.com/v1

With --against, the run is compared with a service, too: with the copies that restore --to made there, or else with the same documents. The service is only read.

Exit codes: 0 sound, and as at the service · 1 could not be checked or compared · 2 wrong usage, no such run, or no key · 4 something is wrong with the dump, or the service differs · 130, 143 interrupted`;

/** `kbdump verify <run>`: reads what was written and proves it again; with `--against`, compares it with a service. */
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
  options,
  epilog,
  async run(args, world) {
    const { json } = args;
    await checkArguments(args);
    const { findRunToFetch } = await import("../store/find-run.js");
    const found = await findRunToFetch(args.run, placesFrom(args, world));
    const { folder } = found;
    const comparison = await againstFrom(args, world);
    const view = viewFrom(args, world);
    if (bucketNames(world.env)(folder) !== args.run) view.log("info", `verifying ${folder}`);
    const verification = await verify(found, args, view, world);
    const isSound = verification.status === "sound";
    const against = comparison && isSound ? await compare({ ...comparison, folder }, view) : null;
    if (comparison && !isSound) view.log("warn", "the dump is not sound, and was not compared with the service");
    const result = resultOf(verification, against);
    const page = pageFor(world.stdout, world.env);
    const text = json
      ? jsonLine(result)
      : [renderVerification(verification, page), ...(against ? [renderAgainst(against, page)] : [])].join("\n");
    await printResult(world, text);
    return result.status === "sound" ? exitCodes.complete : exitCodes.differences;
  },
});

/** Reads the run again; one in a bucket from there, whatever copy there is. */
async function verify(found: RunToFetch, args: VerifyArguments, view: View, world: World): Promise<Verification> {
  const { verifyRun } = await import("../verify/verify-run.js"); // heavy, as job is; --help does without
  const { duckdb, memory } = args;
  const setting = { memory, signal: world.signal, duckdb: duckdb === undefined ? false : duckdb || true };
  const read = (folder: string, database: boolean | string = setting.duckdb) => {
    const tally = emptyReadTally();
    const unwatch = view.watch(renderReading(tally));
    return verifyRun(folder, { ...setting, tally, duckdb: database }).finally(unwatch);
  };
  if (!found.inBucket) return read(found.folder);
  const { verifyInBucket } = await import("./verify/verify-in-bucket.js");
  return verifyInBucket(found.inBucket, setting.duckdb, read, bucketNames(world.env));
}

async function compare(options: Omit<AgainstOptions, "log" | "tally">, view: View): Promise<Against> {
  const { compareWithService } = await import("../restore/copy/against.js"); // heavy, likewise
  const tally = { ...emptyReadTally(), dump: undefined };
  const unwatch = view.watch(renderComparing(tally));
  return compareWithService({ ...options, log: view.log, tally }).finally(unwatch);
}

function resultOf(verification: Verification, against: Against | null): VerifyResult {
  const isEqual = against === null || against.differences.length === 0;
  return { ...verification, status: isEqual ? verification.status : "differences", against };
}
