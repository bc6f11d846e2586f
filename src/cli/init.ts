import { writeFile } from "node:fs/promises";
import { exitCodes, UsageError } from "../errors.js";
import { initialJobFile } from "../job/init.js";
import { defineCommand } from "./command.js";
import { describeError } from "./describe-error.js";
import { printResult } from "./print-result.js";

/** `kbdump init [path]`: a commented job file to start from. */
export const initCommand = defineCommand({
  name: "init [path]",
  about: "write a job file with every option and a comment on each",
  positionals: {
    path: { type: "string", default: "job.yaml", names: "file", describe: "file to write; default: job.yaml" },
  },
  options: { json: { type: "boolean", default: false, describe: "print the result as one JSON object" } },
  epilog: "Example:\n  kbdump init nightly.yaml\n\nExit codes: 0 written · 2 the file exists or cannot be written",
  async run({ path, json }, world) {
    await writeFile(path, initialJobFile(), { flag: "wx" }).catch((error: unknown) => {
      throw new UsageError(`${path}: ${reasonOf(error)}`, []);
    });
    const next = `Wrote ${path}. Fill in the service and the ids, set the key, and start it:\n  kbdump run ${path}`;
    await printResult(world, json ? JSON.stringify({ path }) : next);
    return exitCodes.complete;
  },
});

function reasonOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return String(error);
  if (error.code === "EEXIST") return "exists already; name another file, as in kbdump init nightly.yaml";
  if (error.code === "ENOENT") return "the folder does not exist; make it first";
  return `cannot be written: ${describeError(error).message}`;
}
