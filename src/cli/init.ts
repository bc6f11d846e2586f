import { writeFile } from "node:fs/promises";
import { exitCodes, UsageError } from "../errors.js";
import { initialJobFile } from "../job/init.js";
import type { InitResult } from "../results/init.js";
import { jsonLine } from "../terminal/text.js";
import { defineCommand } from "./command.js";
import { printResult } from "./print-result.js";

/** `kbdump init [path]`: a commented job file to start from. */
export const initCommand = defineCommand({
  name: "init [path]",
  about: "write a commented job file to start from",
  positionals: { path: { type: "string", default: "job.yaml", describe: "file to write; it must not exist" } },
  options: { json: { type: "boolean", default: false, describe: "print the result as one JSON object" } },
  epilog: "Example:\n  kbdump init nightly.yaml\n\nExit codes: 0 written · 2 the file exists or cannot be written",
  async run({ path, json }, world) {
    await writeFile(path, initialJobFile(), { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      const reason =
        error.code === "EEXIST" ? "it exists already; name another" : `it cannot be written (${error.code})`;
      throw new UsageError("No job file was written:", [{ path, message: reason }]);
    });
    const next = `Wrote ${path}. Fill in the service and the ids, set the key, and start it:\n  kbdump run ${path}`;
    const result: InitResult = { status: "complete", path };
    await printResult(world, json ? jsonLine(result) : next);
    return exitCodes.complete;
  },
});
