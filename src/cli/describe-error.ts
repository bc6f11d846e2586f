import {
  BusyError,
  exitCodes,
  InterruptedError,
  type Problem,
  RetryError,
  SkipError,
  StopError,
  UntoldError,
  UsageError,
} from "../errors.js";
import { fileErrorText } from "../file-error.js";
import type { ErrorResult } from "../results/error.js";

/** The message of an error for the user, and its exit code. */
export interface ErrorReport {
  readonly message: string;
  readonly exitCode: number;
  readonly status: ErrorResult["status"];
  /** Each thing that is wrong with the command line or the job file; the message has them, too. */
  readonly problems: readonly Problem[];
  /** True: nobody but we can have caused it, so that the stack helps. */
  readonly unexpected: boolean;
}

/** Turns any error into plain words. Errors of the file system and of DuckDB are the user's surroundings, not our fault. */
export function describeError(error: unknown): ErrorReport {
  const failed = { exitCode: exitCodes.failed, status: "failed", problems: [], unexpected: false } as const;
  const expected = (message: string, more: Partial<ErrorReport> = {}): ErrorReport => ({ message, ...failed, ...more });
  if (error instanceof UsageError)
    return expected(error.message, { exitCode: exitCodes.usage, problems: error.problems });
  if (error instanceof BusyError) return expected(error.message, { exitCode: exitCodes.busy, status: "busy" });
  if (error instanceof InterruptedError)
    return expected(error.message, { exitCode: error.exitCode, status: "interrupted" });
  if (error instanceof UntoldError) return expected(error.message, { exitCode: exitCodes.partial, status: "partial" });
  if (error instanceof StopError || error instanceof SkipError || error instanceof RetryError)
    return expected(error.message);
  if (!(error instanceof Error)) return expected(String(error), { unexpected: true });
  const reason = fileErrorText(error) ?? missingDuckDb(error);
  if (reason) return expected(reason);
  if ("syscall" in error) return expected(plainText(error));
  if (/^(IO Error|Out of Memory Error|Could not set lock)/.test(error.message))
    return expected(`DuckDB: ${error.message}`);
  return expected(error.message, { unexpected: true });
}

/** `ENOENT: no such file or directory, open '/x'` without the code and the name of the call. */
function plainText({ message }: Error): string {
  return message
    .replace(/^E[A-Z]+: /, "")
    .replace(/, \w+(?: ('.*'))?$/, (_, path?: string) => (path ? `: ${path}` : ""));
}

/** In words, that DuckDB cannot be loaded: npm installs its binary as an optional package, one for each system. Else undefined. */
function missingDuckDb(error: Error): string | undefined {
  const code = "code" in error ? error.code : undefined;
  const machine = `${process.platform}-${process.arch}`;
  if (code === "MODULE_NOT_FOUND" && error.message.includes("@duckdb/node-bindings"))
    return `DuckDB is not installed for this machine (${machine}). Run npm install again in the folder where you installed kbdump, on this machine and without --omit=optional`;
  if (code === "ERR_DLOPEN_FAILED" && error.message.includes("duckdb"))
    return `DuckDB does not run on this machine (${machine}): ${error.message}. Write only the formats jsonl and csv here, or use another system`;
  const isUnknown = error.message.startsWith("Error loading duckdb native binding: unsupported");
  return isUnknown
    ? `there is no DuckDB for this machine (${machine}). Write only the formats jsonl and csv here`
    : undefined;
}
