import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, type ManifestFile, manifestName, partsOf } from "../dump/manifest/manifest.js";
import { originalsFolder } from "../dump/manifest/original.js";
import { listName } from "../dump/manifest/shard.js";
import { type Findings, toldOfAKind } from "./findings.js";
import { readPieces } from "./readers/read-records.js";

/** Compares what lies in the folder with what the manifest lists; gives the listed files that can be opened. */
export async function checkFolder(
  folder: string,
  manifest: Manifest,
  findings: Findings,
): Promise<readonly ManifestFile[]> {
  const entries = new Map((await readdir(folder, { withFileTypes: true })).map((entry) => [entry.name, entry]));
  const files = new Map(manifest.files.map((file) => [file.path, file]));
  const known = new Set([
    manifestName,
    ...files.keys(),
    ...(manifest.originals ? [originalsFolder] : []),
    ...(manifest.shard ? [listName] : []),
  ]);
  const others = [...entries.keys()].filter((name) => !known.has(name)).sort();
  for (const name of others.slice(0, toldOfAKind)) {
    findings.add(name, "not listed", `is in the folder, but not in ${manifestName}`);
  }
  findings.addAll(".", "not listed", [], Math.max(0, others.length - toldOfAKind));
  return [...files.values()].filter(({ path }) => isRegular(path, entries.get(path), findings));
}

/** Whether an entry of the folder is a file that can be opened; a finding where it is not. */
export function isRegular(
  path: string,
  entry: Pick<Dirent, "isFile" | "isSymbolicLink"> | undefined,
  findings: Findings,
): boolean {
  if (entry?.isFile()) return true;
  if (!entry) findings.add(path, "not there", "is not there");
  else if (entry.isSymbolicLink()) findings.add(path, "symlink", "is a symlink, which is not followed");
  else findings.add(path, "no file", "is no regular file");
  return false;
}

/** Reads every byte of a file: its size, its hash, and whether its last row ends. True when it is as it should be. */
export async function checkFile(
  folder: string,
  file: ManifestFile,
  findings: Findings,
  onBytes: (bytes: number) => void,
): Promise<boolean> {
  const hash = createHash("sha256");
  let bytes = 0;
  let last: number | undefined;
  for await (const piece of readPieces(join(folder, file.path))) {
    hash.update(piece);
    bytes += piece.length;
    last = piece.at(-1);
    onBytes(piece.length);
  }
  const sha256 = hash.digest("hex");
  const problems = [
    bytes !== file.bytes && `has ${bytes} bytes instead of ${file.bytes}`,
    sha256 !== file.sha256 && `has the SHA-256 ${sha256} instead of ${file.sha256}`,
    partsOf(file).format !== "parquet" && bytes > 0 && last !== 10 && "does not end with a line feed",
  ].filter((problem) => problem !== false);
  for (const problem of problems) findings.add(file.path, "bytes", problem);
  return problems.length === 0;
}
