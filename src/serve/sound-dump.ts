import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { plainText } from "../client/plain-text.js";
import { StopError } from "../errors.js";
import type { CheckedManifest } from "../verify/check-manifest.js";
import { Findings } from "../verify/findings.js";
import { readDump } from "../verify/read-dump.js";

/** A run folder whose manifest is sound and whose files are there. */
export interface SoundDump {
  /** With its symlinks resolved. */
  readonly folder: string;
  readonly manifest: CheckedManifest;
}

/**
 * Opens a run folder. UsageError when it is none; StopError, with everything that is wrong, when its manifest is not sound, or
 * a file that it names is missing or of another size.
 */
export async function soundDump(path: string): Promise<SoundDump> {
  const findings = new Findings();
  const { folder, manifest } = await readDump(path, findings);
  for (const { path: name, bytes } of manifest?.files ?? []) {
    const problem = await problemOf(join(folder, name), bytes);
    if (problem) findings.add(name, problem, problem);
  }
  if (manifest && findings.count === 0) return { folder, manifest };
  const lines = findings.list.map(({ file, message }) => `  ${plainText(`${file}: ${message}`, "")}`);
  throw new StopError([`${folder} cannot be served, because it is not as a run left it:`, ...lines].join("\n"));
}

async function problemOf(path: string, bytes: number): Promise<string | undefined> {
  try {
    const facts = await lstat(path);
    if (facts.isSymbolicLink()) return "is a symlink, which is not followed";
    if (!facts.isFile()) return "is no regular file";
    return facts.size === bytes ? undefined : `has ${facts.size} bytes instead of ${bytes}`;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "is not there";
    throw error;
  }
}
