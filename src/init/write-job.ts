import { rm, writeFile } from "node:fs/promises";
import { UsageError } from "../errors.js";
import { problemText } from "../file-error.js";

/** A file to write, readable by its owner only if it holds the key. */
export interface NewFile {
  readonly path: string;
  readonly text: string;
  readonly isSecret?: boolean;
}

/** Writes files that must not exist yet: all of them or none. UsageError with the one that cannot be written. */
export async function writeNewFiles(files: readonly NewFile[]): Promise<void> {
  const written: string[] = [];
  for (const { path, text, isSecret } of files) {
    try {
      await writeFile(path, text, { flag: "wx", mode: isSecret ? 0o600 : 0o666 });
      written.push(path);
    } catch (error) {
      await Promise.all(written.map((each) => rm(each, { force: true })));
      throw unwritten(path, error);
    }
  }
}

function unwritten(path: string, error: unknown): UsageError {
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "EEXIST") return existingFile(path);
  return refusal(
    path,
    code === "ENOENT" ? "the folder does not exist; make it first" : `cannot be written: ${problemText(error)}`,
  );
}

/** The refusal to write over a file. */
export function existingFile(path: string): UsageError {
  return refusal(path, "exists already; name another file, as in kbdump init nightly.yaml");
}

function refusal(path: string, message: string): UsageError {
  return new UsageError(`${path}: ${message}`, [{ path, message }], []);
}
