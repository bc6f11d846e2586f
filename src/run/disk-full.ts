import { StopError } from "../errors.js";

/** Says of an error that it means a full disk: where, while doing what, and what to do. Any other error stays as it is. */
export function sayDiskFull(error: unknown, folder: string, step: string): unknown {
  if (!(error instanceof Error) || !meansFullDisk(error)) return error;
  const message = `the disk of ${folder} is full (${step}). What was read is kept: make room, and the next run goes on from there`;
  return new StopError(message, { cause: error });
}

/** Node has a code for it; DuckDB only says so. */
function meansFullDisk(error: Error): boolean {
  if ("code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")) return true;
  return /No space left on device|Disk quota exceeded/i.test(error.message);
}
