import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, type ManifestFile, manifestName } from "../dump/manifest/manifest.js";
import { originalsFolder } from "../dump/manifest/original.js";
import { listName } from "../dump/manifest/shard.js";
import { partsOf } from "../dump/manifest/tables.js";
import { type Findings, toldOfAKind } from "./findings.js";
import { readPieces, readText } from "./readers/read-text.js";
import { UnreadableError } from "./readers/row-source.js";

/** An entry of a folder, as far as it is looked at. */
type Entry = Pick<Dirent, "isFile" | "isSymbolicLink">;

/** Compares what lies in the folder with what the manifest lists; gives the listed files that can be opened. */
export async function checkFolder(
  folder: string,
  manifest: Manifest,
  findings: Findings,
): Promise<readonly ManifestFile[]> {
  const files = new Map(manifest.files.map((file) => [file.path, file]));
  const folders = new Set(manifest.files.flatMap(({ path }) => foldersOf(path)));
  const known = new Set([
    manifestName,
    ...files.keys(),
    ...folders,
    ...(manifest.originals ? [originalsFolder] : []),
    ...(manifest.shard ? [listName] : []),
  ]);
  const entries = await readEntries(folder, folders);
  const others = [...entries.keys()].filter((name) => !known.has(name)).sort();
  for (const name of others.slice(0, toldOfAKind)) {
    findings.add(name, "not listed", `is in the folder, but not in ${manifestName}`);
  }
  findings.addAll(".", "not listed", [], Math.max(0, others.length - toldOfAKind));
  const closed = [...entries.keys()].filter((path) => folders.has(path));
  for (const path of closed) addWrongEntry(path, entries.get(path), "folder", findings);
  return [...files.values()].filter(
    ({ path }) =>
      !foldersOf(path).some((above) => closed.includes(above)) && isRegular(path, entries.get(path), findings),
  );
}

/** Whether an entry of the folder is a file that can be opened; a finding where it is not. */
export function isRegular(path: string, entry: Entry | undefined, findings: Findings): boolean {
  if (entry?.isFile()) return true;
  addWrongEntry(path, entry, "regular file", findings);
  return false;
}

/** A finding for an entry that is not there, or not what it should be. */
function addWrongEntry(path: string, entry: Entry | undefined, wanted: string, findings: Findings): void {
  if (!entry) findings.add(path, "not there", "is not there");
  else if (entry.isSymbolicLink()) findings.add(path, "symlink", "is a symlink, which is not followed");
  else findings.add(path, "no file", `is no ${wanted}`);
}

/** The folders that a path leads through. */
function foldersOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_name, at) => names.slice(0, at + 1).join("/"));
}

/** The entries of a folder by their paths; folders that are expected are left out, and their own entries are in their place. */
async function readEntries(
  folder: string,
  expected: ReadonlySet<string>,
  above = "",
): Promise<ReadonlyMap<string, Dirent>> {
  const entries = new Map<string, Dirent>();
  for (const entry of await readdir(join(folder, above), { withFileTypes: true })) {
    const path = `${above}${entry.name}`;
    if (!entry.isDirectory() || !expected.has(path)) entries.set(path, entry);
    else for (const [inner, found] of await readEntries(folder, expected, `${path}/`)) entries.set(inner, found);
  }
  return entries;
}

/** Reads every byte of a file: its size, its hash, those of its text, and whether its last row ends. True when it is as it should be. */
export async function checkFile(
  folder: string,
  file: ManifestFile,
  findings: Findings,
  onBytes: (bytes: number) => void,
): Promise<boolean> {
  const problems = await problemsIn(join(folder, file.path), file, onBytes);
  for (const problem of problems) findings.add(file.path, "bytes", problem);
  return problems.length === 0;
}

async function problemsIn(
  path: string,
  file: ManifestFile,
  onBytes: (bytes: number) => void,
): Promise<readonly string[]> {
  const { format, compression } = partsOf(file);
  const ofFile = await Fingerprint.of(readPieces(path), onBytes);
  const problems = ofFile.problems("", file);
  if (compression === "none") return [...problems, ...(format === "parquet" ? [] : ofFile.openEnd())];
  if (problems.length > 0) return problems; // its text can only be wrong, too
  try {
    const ofText = await Fingerprint.of(readText(path), () => onBytes(0));
    return [...ofText.problems("its text ", file.uncompressed), ...ofText.openEnd()];
  } catch (error) {
    if (error instanceof UnreadableError) return [error.message];
    throw error;
  }
}

/** The size, the hash and the last byte of what was read. */
class Fingerprint {
  readonly #hash = createHash("sha256");
  #bytes = 0;
  #last: number | undefined;

  static async of(pieces: AsyncIterable<Buffer>, onBytes: (bytes: number) => void): Promise<Fingerprint> {
    const found = new Fingerprint();
    for await (const piece of pieces) {
      onBytes(piece.length);
      found.#hash.update(piece);
      found.#bytes += piece.length;
      found.#last = piece.at(-1);
    }
    return found;
  }

  /** The differences from what the manifest lists, if it does. */
  problems(name: string, listed: Pick<ManifestFile, "bytes" | "sha256"> | undefined): readonly string[] {
    const sha256 = this.#hash.digest("hex");
    if (!listed) return [];
    return [
      this.#bytes !== listed.bytes && `${name}has ${this.#bytes} bytes instead of ${listed.bytes}`,
      sha256 !== listed.sha256 && `${name}has the SHA-256 ${sha256} instead of ${listed.sha256}`,
    ].filter((problem) => problem !== false);
  }

  openEnd(): readonly string[] {
    return this.#bytes > 0 && this.#last !== 10 ? ["does not end with a line feed"] : [];
  }
}
