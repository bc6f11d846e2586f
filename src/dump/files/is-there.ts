import { lstat } from "node:fs/promises";

/**
 * Whether anything has this name; what a link leads to is not looked at. Rejects where the disk does not say: an error is no
 * proof that nothing is there.
 */
export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** Whether an error says that nothing has this name. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** For `catch`: what to take instead where nothing has this name; any other error stays one. */
export function ifAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isAbsence(error)) return value;
    throw error;
  };
}
