import type { GenericSchema } from "valibot";
import { diffResult } from "./diff.js";
import { errorResult } from "./error.js";
import { initResult } from "./init.js";
import { logLine } from "./log.js";
import { planResult } from "./plan.js";
import { pruneResult } from "./prune.js";
import { runResult } from "./run.js";
import { serveResult } from "./serve.js";
import { statusResult, watchResult } from "./status.js";
import { verifyResult } from "./verify.js";

/**
 * Everything that the program prints as JSON, by the name of its schema file. Every command with `--json` has an entry under
 * its own name: write its schema beside the others, add a line here, and let the function that makes the JSON give its type.
 * Only types are imported from this folder at run time, so that no command has to load it.
 */
export const schemas = {
  run: runResult,
  plan: planResult,
  status: statusResult,
  "status-watch": watchResult,
  verify: verifyResult,
  diff: diffResult,
  serve: serveResult,
  prune: pruneResult,
  init: initResult,
  error: errorResult,
  log: logLine,
} as const satisfies Readonly<Record<string, GenericSchema>>;
