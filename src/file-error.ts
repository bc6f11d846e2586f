const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
  ENOTDIR: "a part of the path is no folder",
  EEXIST: "something of another kind is there already",
  ENOTEMPTY: "the folder there is not empty",
  EISDIR: "it is a folder",
  EMFILE: "too many files are open; raise the limit (ulimit -n) or lower service.concurrency",
  EIO: "the disk reports an error",
};

/** An error of the file system in words, with its path where one is known; undefined for any other error. */
export function fileErrorText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : reasons[code];
  return reason && `${reason}${path === undefined ? "" : `: ${path}`}`;
}
