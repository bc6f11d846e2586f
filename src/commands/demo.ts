import { fileURLToPath } from "node:url";
import { defineCommand } from "../cli/command.js";
import { formatOption, jobFrom, outOption } from "../cli/options.js";
import { runResult } from "./run/result.js";
import { runAndReport } from "./run.js";

const epilog = `Examples:
  kbdump demo
  kbdump demo --format jsonl --out /tmp/demo

The job is jobs/demo.yaml of the package. The service runs on this machine while the command does, and nothing is asked of any other.

Exit codes: 0 complete · 1 failed, nothing published · 3 published, but partial · 5 another run of the demo is active · 130, 143 interrupted`;

/** `kbdump demo`: runs the main job against the embedded service with sample data. */
export const command = defineCommand({
  name: "demo",
  about: "run the main job against an embedded service with sample data; no key needed",
  positionals: {},
  options: { ...outOption, ...formatOption },
  epilog,
  results: () => ({ demo: runResult }),
  async run(args, environment) {
    const job = await jobFrom({ ...args, job: jobFile }, environment);
    return runAndReport(job, args, environment);
  },
});

const jobFile = fileURLToPath(new URL("../../jobs/demo.yaml", import.meta.url));
