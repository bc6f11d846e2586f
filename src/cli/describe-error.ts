import { BusyError, exitCodes, InterruptedError, RetryError, SkipError, StopError, UsageError } from "../errors.js";

/** What to tell the user of an error, and the exit code that goes with it. */
export interface ErrorReport {
  readonly message: string;
  readonly exitCode: number;
  /** True: nobody but we can have caused it, so that the stack helps. */
  readonly unexpected: boolean;
}

const fileErrors: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
  ENOTDIR: "a part of the path is no folder",
  EEXIST: "something of another kind is there already",
  EISDIR: "it is a folder",
  EMFILE: "too many files are open; raise the limit (ulimit -n) or lower service.concurrency",
  EIO: "the disk reports an error",
};

/** Turns any error into plain words. Errors of the file system and of DuckDB are the user's surroundings, not our fault. */
export function describeError(error: unknown): ErrorReport {
  const expected = (message: string, exitCode: number): ErrorReport => ({ message, exitCode, unexpected: false });
  if (error instanceof UsageError) return expected(error.message, exitCodes.usage);
  if (error instanceof BusyError) return expected(error.message, exitCodes.busy);
  if (error instanceof InterruptedError) return expected(error.message, error.exitCode);
  if (error instanceof StopError || error instanceof SkipError || error instanceof RetryError)
    return expected(error.message, exitCodes.failed);
  if (!(error instanceof Error)) return { message: String(error), exitCode: exitCodes.failed, unexpected: true };
  const { code, path } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : fileErrors[code];
  if (reason) return expected(`${reason}${path === undefined ? "" : `: ${path}`}`, exitCodes.failed);
  if ("syscall" in error) return expected(error.message, exitCodes.failed);
  if (/^(IO Error|Out of Memory Error|Could not set lock)/.test(error.message))
    return expected(`DuckDB: ${error.message}`, exitCodes.failed);
  return { message: error.message, exitCode: exitCodes.failed, unexpected: true };
}
