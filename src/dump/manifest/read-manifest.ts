import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../errors.js";
import { check, valueIf } from "../../schema.js";
import { isAbsence } from "../files/is-there.js";
import { type Manifest, manifestName, manifestSchema, type RunFacts, runFactsSchema } from "./manifest.js";

/** The most that is read of a manifest, in bytes; more does not fit a string. */
const largest = 500_000_000;

/** The deepest nesting that is read. A run writes some ten levels, and a check of each value needs as deep a stack. */
const deepest = 1000;

/** A manifest that was read, or the sentences that say why it counts as none. */
export type ReadManifest =
  | { readonly manifest: Manifest; readonly problems: readonly [] }
  | { readonly manifest: undefined; readonly problems: readonly string[] };

/** A folder of a run, with its symlinks resolved. */
export type DumpFolder = ReadManifest & { readonly folder: string };

/** Reads the manifest of a dump, which may be given as `latest`. UsageError when the path is no folder of a run. */
export async function readDumpFolder(path: string): Promise<DumpFolder> {
  const folder = await folderAt(path);
  const read = await readManifest(folder);
  if (read) return { folder, ...read };
  throw noDump(path, `no ${manifestName} in it, which a run writes last`);
}

/** Reads the manifest in a folder; undefined when there is none. It is never waited for, and no symlink is followed. */
export async function readManifest(folder: string): Promise<ReadManifest | undefined> {
  const read = await manifestText(folder);
  if (read === undefined) return undefined;
  return read.text === undefined ? unsound(read.problem) : manifestFrom(read.text);
}

/** The text of the manifest in a folder, or why it counts as none; undefined when there is none. */
async function manifestText(
  folder: string,
): Promise<{ readonly text: string } | { readonly text?: undefined; readonly problem: string } | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let file: FileHandle;
  try {
    file = await open(join(folder, manifestName), flags);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    if (hasCode(error, "ELOOP")) return { problem: "is a symlink, which is not followed" };
    if (hasCode(error, "ENXIO")) return { problem: "is no regular file" }; // a socket
    throw error;
  }
  try {
    const facts = await file.stat();
    if (!facts.isFile()) return { problem: "is no regular file" };
    if (facts.size > largest) return { problem: `is larger than ${largest / 1_000_000} MB` };
    const bytes = await file.readFile();
    return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { problem: "is not UTF-8" };
  } finally {
    await file.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** The run that a folder holds, by its manifest; undefined, whatever the reason, when it does not say. Never rejects. */
export async function readRunFacts(folder: string): Promise<RunFacts | undefined> {
  try {
    const read = await manifestText(folder);
    return read?.text === undefined ? undefined : valueIf(runFactsSchema, JSON.parse(read.text));
  } catch {
    return undefined;
  }
}

function unsound(...problems: readonly string[]): ReadManifest {
  return { manifest: undefined, problems };
}

function manifestFrom(text: string): ReadManifest {
  if (isDeeperThan(deepest, text)) return unsound(`is nested more than ${deepest} deep`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unsound(`is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  const checked = check(manifestSchema, value);
  if (checked.problems === null) return { manifest: checked.value, problems: [] };
  return unsound(...checked.problems.map(({ path, message }) => `${path || "the whole"}: ${message}`));
}

/** Whether arrays and objects stand in each other more than so many deep. */
function isDeeperThan(bound: number, text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) isString = !isString;
    else if (isString && code === 92) at++;
    else if (!isString && (code === 91 || code === 123) && ++depth > bound) return true;
    else if (!isString && (code === 93 || code === 125)) depth--;
  }
  return false;
}

async function folderAt(path: string): Promise<string> {
  try {
    const folder = await realpath(path);
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (!isAbsence(error)) throw error;
    throw noDump(path, "there is no such folder");
  }
  throw noDump(path, "it is no folder; name the folder of a run, such as output/nightly/latest");
}

function noDump(path: string, message: string): UsageError {
  return new UsageError("Not a finished run folder:", [{ path, message }]);
}
