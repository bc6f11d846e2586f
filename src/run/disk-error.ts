import { StopError } from "../errors.js";
import { fileErrorText } from "../file-error.js";

/**
 * Says of an error that it means a full disk, or one that fails: where, while doing what, and what to do. Any other error
 * stays as it is.
 */
export function sayDiskError(error: unknown, folder: string, step: string): unknown {
  if (!(error instanceof Error)) return error;
  if (meansFullDisk(error)) {
    const message = `the disk of ${folder} is full (${step}). What was read is kept: make room, and the next run goes on from there`;
    return new StopError(message, { cause: error });
  }
  if (!meansBrokenDisk(error)) return error;
  const place = "path" in error && typeof error.path === "string" ? error.path : folder;
  const message = `the disk reports an error (EIO) at ${place} (${step}). Nothing was published. Check the disk; the next run goes on with what can be read`;
  return new StopError(message, { cause: error });
}

/** One sentence of any error, without a stop at its end: for what is told beside a run that is published. */
export function problemText(error: unknown): string {
  return fileErrorText(error) ?? (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
}

/** Whether an error is one of the disk itself. Node has a code for it; DuckDB only says so. */
export function isDiskError(error: unknown): boolean {
  return error instanceof Error && (meansFullDisk(error) || meansBrokenDisk(error));
}

/** Whether an error says that the disk, or the quota on it, is full. */
export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && meansFullDisk(error);
}

function meansFullDisk(error: Error): boolean {
  if ("code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")) return true;
  return /No space left on device|Disk quota exceeded/i.test(error.message);
}

function meansBrokenDisk(error: Error): boolean {
  return ("code" in error && error.code === "EIO") || /Input\/output error/i.test(error.message);
}
