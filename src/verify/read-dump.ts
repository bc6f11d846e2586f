import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../errors.js";
import { type CheckedManifest, checkManifest } from "./check-manifest.js";
import { CheckError } from "./check-value.js";
import type { Findings } from "./findings.js";
import { isDeeperThan } from "./scan-json.js";

/** A run folder. */
export interface Dump {
  /** With its symlinks resolved: `latest` may be given. */
  readonly folder: string;
  /** Undefined when there is one and it is not sound, which is a finding. */
  readonly manifest: CheckedManifest | undefined;
}

export const manifestName = "manifest.json";

/** The most that is read of a manifest, in bytes; more does not fit a string. */
const largest = 500_000_000;

/** The deepest nesting that is read. A run writes some ten levels, and whatever looks at each value needs as deep a stack. */
const deepest = 1000;

/** Reads what a run says of itself. UsageError when the path is no run folder. */
export async function readDump(path: string, findings: Findings): Promise<Dump> {
  const folder = await folderAt(path);
  const text = await manifestText(folder, path, findings);
  return { folder, manifest: text === undefined ? undefined : manifestFrom(text, findings) };
}

async function folderAt(path: string): Promise<string> {
  try {
    const folder = await realpath(path);
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    throw noDump(path, "there is no such folder");
  }
  throw noDump(path, "it is no folder; name the folder of a run, such as output/nightly/latest");
}

/** The text of the manifest; undefined when it is none, which is a finding. */
async function manifestText(folder: string, path: string, findings: Findings): Promise<string | undefined> {
  const wrong = (message: string) => {
    findings.add(manifestName, "not readable", message);
    return undefined;
  };
  try {
    const file = await open(
      join(folder, manifestName),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const facts = await file.stat();
      if (!facts.isFile()) return wrong("is no regular file");
      if (facts.size > largest) return wrong(`is larger than ${largest / 1_000_000} MB`);
      const bytes = await file.readFile();
      return isUtf8(bytes) ? bytes.toString("utf8") : wrong("is not UTF-8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ELOOP")
      return wrong("is a symlink, which is not followed");
    if (!isAbsent(error)) throw error;
    throw noDump(path, `there is no ${manifestName} in it, which is written last: a folder without it is no dump`);
  }
}

function manifestFrom(text: string, findings: Findings): CheckedManifest | undefined {
  if (isDeeperThan(deepest, text)) {
    findings.add(manifestName, "not readable", `is nested more than ${deepest} deep`);
    return undefined;
  }
  try {
    return checkManifest(JSON.parse(text), "");
  } catch (error) {
    if (error instanceof SyntaxError) findings.add(manifestName, "no JSON", `is no JSON: ${error.message}`);
    else if (!(error instanceof CheckError)) throw error;
    else
      for (const { path, message } of error.problems)
        findings.add(manifestName, "not as expected", `${path || "the whole"}: ${message}`);
    return undefined;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

function noDump(path: string, message: string): UsageError {
  return new UsageError("This is no dump:", [{ path, message }]);
}
