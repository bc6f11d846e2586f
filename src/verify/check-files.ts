import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, type ManifestFile, manifestName } from "../dump/manifest/manifest.js";
import { originalsFolder } from "../dump/manifest/original.js";
import { partsOf } from "../dump/manifest/tables.js";
import { type Findings, toldOfAKind } from "./findings.js";
import { readText } from "./readers/read-text.js";
import { UnreadableError } from "./readers/row-source.js";

/** Compares what lies in the folder with what the manifest lists; gives the listed files that can be opened. */
export async function checkFolder(
  folder: string,
  manifest: Manifest,
  findings: Findings,
): Promise<readonly ManifestFile[]> {
  const files = new Map(manifest.files.map((file) => [file.path, file]));
  const folders = new Set(manifest.files.flatMap(({ path }) => foldersOf(path)));
  const known = new Set([manifestName, ...files.keys(), ...folders, ...(manifest.originals ? [originalsFolder] : [])]);
  const entries = await readEntries(folder, folders);
  const others = [...entries.keys()].filter((name) => !known.has(name)).sort();
  for (const name of others.slice(0, toldOfAKind)) {
    findings.add(name, "not listed", `is in the folder, but not in ${manifestName}`);
  }
  findings.addAll(".", "not listed", [], Math.max(0, others.length - toldOfAKind));
  const closed = [...entries.keys()].filter((path) => folders.has(path));
  for (const path of closed) addWrongEntry(path, entries.get(path), "folder", findings);
  return [...files.values()].filter(({ path }) => {
    if (foldersOf(path).some((above) => closed.includes(above))) return false;
    const entry = entries.get(path);
    if (entry?.isFile()) return true;
    addWrongEntry(path, entry, "regular file", findings);
    return false;
  });
}

/** A finding for an entry that is not there, or not what it should be. */
function addWrongEntry(path: string, entry: Dirent | undefined, wanted: string, findings: Findings): void {
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
  const [ofFile, ofText] = [new Fingerprint(), new Fingerprint()];
  const onPiece = (piece: Buffer) => {
    ofFile.add(piece);
    onBytes(piece.length);
  };
  const problems: string[] = [];
  try {
    for await (const piece of readText(join(folder, file.path), onPiece)) ofText.add(piece);
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    problems.push(error.message);
  }
  if (problems.length === 0) problems.push(...ofFile.problems("", file));
  if (problems.length === 0 && file.uncompressed) problems.push(...ofText.problems("its text ", file.uncompressed));
  if (partsOf(file).format !== "parquet" && ofText.bytes > 0 && ofText.last !== 10)
    problems.push("does not end with a line feed");
  for (const problem of problems) findings.add(file.path, "bytes", problem);
  return problems.length === 0;
}

/** The size, the hash and the last byte of what was read. */
class Fingerprint {
  readonly #hash = createHash("sha256");
  bytes = 0;
  last: number | undefined;

  add(piece: Buffer): void {
    this.#hash.update(piece);
    this.bytes += piece.length;
    this.last = piece.at(-1);
  }

  problems(name: string, { bytes, sha256 }: { readonly bytes: number; readonly sha256: string }): readonly string[] {
    const found = this.#hash.digest("hex");
    return [
      this.bytes !== bytes && `${name}has ${this.bytes} bytes instead of ${bytes}`,
      found !== sha256 && `${name}has the SHA-256 ${found} instead of ${sha256}`,
    ].filter((problem) => problem !== false);
  }
}
