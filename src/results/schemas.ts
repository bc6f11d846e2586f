import type { GenericSchema } from "valibot";
import { completionResult } from "./completion.js";
import { diffResult } from "./diff.js";
import { errorResult } from "./error.js";
import { initResult } from "./init.js";
import { joinResult } from "./join.js";
import { listResult } from "./list.js";
import { logLine } from "./log.js";
import { moveResult } from "./move.js";
import { planResult } from "./plan.js";
import { pruneResult } from "./prune.js";
import { reportResult } from "./report.js";
import { restoreResult } from "./restore.js";
import { runResult } from "./run.js";
import { serveResult } from "./serve.js";
import { sqlResult } from "./sql.js";
import { statusResult, watchResult } from "./status.js";
import { verifyResult } from "./verify.js";
import { workerResult } from "./worker.js";

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
  report: reportResult,
  serve: serveResult,
  restore: restoreResult,
  "restore-to": moveResult,
  join: joinResult,
  worker: workerResult,
  prune: pruneResult,
  list: listResult,
  sql: sqlResult,
  init: initResult,
  completion: completionResult,
  error: errorResult,
  log: logLine,
} as const satisfies Readonly<Record<string, GenericSchema>>;
