import { writeFile } from "node:fs/promises";
import type { Argv } from "yargs";
import { exitCodes, UsageError } from "../errors.js";
import { initialJobFile } from "../job/init.js";
import type { Command } from "./command.js";
import { printResult } from "./print-result.js";

const options = (yargs: Argv) =>
  yargs
    .positional("path", { type: "string", default: "job.yaml", describe: "file to write; it must not exist" })
    .option("json", { type: "boolean", default: false, describe: "print the result as one JSON object" })
    .epilog("Example:\n  kbdump init nightly.yaml\n\nExit codes: 0 written · 2 the file exists or cannot be written");

/** `kbdump init [path]`: a commented job file to start from. */
export const initCommand: Command = {
  name: "init [path]",
  about: "write a commented job file to start from",
  register: (yargs, world, done) =>
    yargs.command(initCommand.name, initCommand.about, options, async ({ path, json }) => {
      await writeFile(path, initialJobFile(), { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
        const reason =
          error.code === "EEXIST" ? "it exists already; name another" : `it cannot be written (${error.code})`;
        throw new UsageError("No job file was written:", [{ path, message: reason }]);
      });
      const next = `Wrote ${path}. Fill in the service and the ids, set the key, and start it:\n  kbdump run ${path}`;
      await printResult(world, json ? JSON.stringify({ path }) : next);
      done(exitCodes.complete);
    }),
};
