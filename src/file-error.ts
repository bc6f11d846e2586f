import { StopError } from "./errors.js";

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "something of another kind is there already",
  ENOTEMPTY: "the folder there is not empty",
  EISDIR: "it is a folder",
  EMFILE: "too many files are open; raise the limit (ulimit -n) or lower service.concurrency",
  EFBIG: "a file is larger than the system allows; raise the limit (ulimit -f) or use another disk",
  EIO: "the disk reports an error",
};

/** Describes a file system error in words, with its path if known; undefined for any other error. */
export function fileErrorText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : reasons[code];
  return reason && `${reason}${path === undefined ? "" : `: ${path}`}`;
}

/** Advice for a full and for a failing disk. */
export interface DiskAdvice {
  readonly full: string;
  readonly broken: string;
}

const resumed: DiskAdvice = {
  full: "What was read is kept: make room, and the next run continues from there",
  broken: "Nothing was published. Check the disk; the next run continues with what can be read",
};

/**
 * Converts the error of a full or failing disk to a StopError that names the place, the step and the remedy; by default the remedy
 * of a run, which can resume. Returns any other error unchanged.
 */
export function sayDiskError(error: unknown, folder: string, step: string, advice = resumed): unknown {
  if (!(error instanceof Error)) return error;
  if (meansFullDisk(error)) {
    return new StopError(`the disk of ${folder} is full (${step}). ${advice.full}`, { cause: error });
  }
  if (!meansBrokenDisk(error)) return error;
  const place = "path" in error && typeof error.path === "string" ? error.path : folder;
  return new StopError(`the disk reports an error at ${place} (${step}). ${advice.broken}`, { cause: error });
}

/** Puts any error on one line, for a warning about a published run. */
export function problemText(error: unknown): string {
  return fileErrorText(error) ?? (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
}

/** Whether an error comes from the disk itself. Node has a code for it; DuckDB only has text. */
export function isDiskError(error: unknown): boolean {
  return error instanceof Error && (meansFullDisk(error) || meansBrokenDisk(error));
}

/** Whether an error means that the disk or its quota is full. */
export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && meansFullDisk(error);
}

function meansFullDisk(error: Error): boolean {
  if ("code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")) return true;
  return /No space left on device|Disk quota exceeded/i.test(error.message);
}

function meansBrokenDisk(error: Error): boolean {
  return ("code" in error && error.code === "EIO") || /Input\/output error|fsync failed/i.test(error.message);
}
