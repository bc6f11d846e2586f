import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../errors.js";
import { check } from "../../schema.js";
import { isAbsence } from "../files/is-there.js";
import { type Manifest, manifestName, manifestSchema } from "./manifest.js";

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
  throw noDump(path, `there is no ${manifestName} in it, which is written last: a folder without it is no dump`);
}

/** Reads the manifest in a folder; undefined when there is none. It is never waited for, and no symlink is followed. */
export async function readManifest(folder: string): Promise<ReadManifest | undefined> {
  const path = join(folder, manifestName);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ELOOP") return "is a symlink, which is not followed";
      if (!isAbsence(error)) throw error;
      return undefined;
    },
  );
  if (file === undefined) return undefined;
  if (typeof file === "string") return unsound(file);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) return unsound("is no regular file");
    if (facts.size > largest) return unsound(`is larger than ${largest / 1_000_000} MB`);
    const bytes = await file.readFile();
    return isUtf8(bytes) ? manifestFrom(bytes.toString("utf8")) : unsound("is not UTF-8");
  } finally {
    await file.close();
  }
}

/** The manifest in a folder if it is sound, for whoever passes over every other. Rejects only if the disk fails. */
export async function soundManifest(folder: string): Promise<Manifest | undefined> {
  return (await readManifest(folder))?.manifest;
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
  return new UsageError("This is no dump:", [{ path, message }]);
}
