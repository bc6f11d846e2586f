import {
  BusyError,
  exitCodes,
  InterruptedError,
  RetryError,
  SkipError,
  StopError,
  UntoldError,
  UsageError,
} from "../errors.js";
import { fileErrorText } from "../file-error.js";

/** The message of an error for the user, and its exit code. */
export interface ErrorReport {
  readonly message: string;
  readonly exitCode: number;
  /** True: nobody but we can have caused it, so that the stack helps. */
  readonly unexpected: boolean;
}

/** Turns any error into plain words. Errors of the file system and of DuckDB are the user's surroundings, not our fault. */
export function describeError(error: unknown): ErrorReport {
  const expected = (message: string, exitCode: number): ErrorReport => ({ message, exitCode, unexpected: false });
  if (error instanceof UsageError) return expected(error.message, exitCodes.usage);
  if (error instanceof BusyError) return expected(error.message, exitCodes.busy);
  if (error instanceof InterruptedError) return expected(error.message, error.exitCode);
  if (error instanceof UntoldError) return expected(error.message, exitCodes.partial);
  if (error instanceof StopError || error instanceof SkipError || error instanceof RetryError)
    return expected(error.message, exitCodes.failed);
  if (!(error instanceof Error)) return { message: String(error), exitCode: exitCodes.failed, unexpected: true };
  const reason = fileErrorText(error);
  if (reason) return expected(reason, exitCodes.failed);
  if ("syscall" in error) return expected(plainText(error), exitCodes.failed);
  if (/^(IO Error|Out of Memory Error|Could not set lock)/.test(error.message))
    return expected(`DuckDB: ${error.message}`, exitCodes.failed);
  return { message: error.message, exitCode: exitCodes.failed, unexpected: true };
}

/** `ENOENT: no such file or directory, open '/x'` without the code and the name of the call. */
function plainText({ message }: Error): string {
  return message
    .replace(/^E[A-Z]+: /, "")
    .replace(/, \w+(?: ('.*'))?$/, (_, path?: string) => (path ? `: ${path}` : ""));
}
