import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import {
  type DumpTable,
  type ListedFile,
  listedFiles,
  listName,
  type Manifest,
  type ManifestFile,
  manifestName,
  originalsFolder,
  partsOf,
  tablesOf,
} from "../dump/manifest.js";
import { UnreadableError } from "../files/files.js";
import { readPieces, readTextPieces } from "../files/lines.js";
import type { ReadProgress } from "../read-progress.js";
import { listOf, object, text, valueIf } from "../schema.js";
import { type Findings, listedPerKind } from "./findings.js";

/** The findings and the progress of a verification. Aborting the signal ends it. */
export interface Verifying {
  readonly findings: Findings;
  readonly signal: AbortSignal;
  readonly progress: ReadProgress;
}

/**
 * Compares the folder with the manifest, and reads every byte of the listed files. Returns the number of data files, the tables
 * whose files all exist, and the ids of the datasets whose documents were listed. Tables without a problem come first, because the
 * others are compared with the first.
 */
export async function checkFiles(folder: string, manifest: Manifest, verifying: Verifying) {
  const { findings, progress } = verifying;
  const listed = new Map([...listedFiles(manifest), ...manifest.files].map((file) => [file.path, file]));
  const folders = new Set([...listed.keys()].flatMap(foldersOf));
  if (manifest.originals) folders.add(originalsFolder);
  const there = await checkEntries(folder, [...listed.keys()], folders, findings);
  const sound = new Set<string>();
  for (const [path, file] of listed) {
    if (!there.has(path)) continue;
    progress.step = `hashing ${path}`;
    const problems = await problemsIn(join(folder, path), file, verifying);
    for (const problem of problems) findings.add(path, "bytes", problem);
    if (problems.length === 0) sound.add(path);
  }
  const isIn = (paths: ReadonlySet<string>) => (table: DumpTable) => table.files.every(({ path }) => paths.has(path));
  const files = new Map(manifest.files.map((file) => [file.path, file])); // a manifest may list a file twice
  const whole = tablesOf([...files.values()]).filter(isIn(there));
  return {
    files: manifest.files.filter(({ path }) => there.has(path)).length,
    tables: [...whole.filter(isIn(sound)), ...whole.filter((table) => !isIn(sound)(table))],
    datasets: manifest.shard && !sound.has(listName) ? [] : await listedDatasets(folder, manifest, findings),
  };
}

/** All parent folders of a path. */
function foldersOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_name, at) => names.slice(0, at + 1).join("/"));
}

/** Compares the names in the folder with the listed ones; returns the listed files that can be opened. */
async function checkEntries(folder: string, listed: readonly string[], folders: Set<string>, findings: Findings) {
  const entries = await readEntries(folder, folders);
  const known = new Set([manifestName, ...listed, ...folders]);
  const others = [...entries.keys()].filter((name) => !known.has(name)).sort();
  for (const path of others.slice(0, listedPerKind))
    findings.add(path, "not listed", `is in the folder, but not in ${manifestName}`);
  findings.addAll(".", "not listed", [], Math.max(0, others.length - listedPerKind));
  const closed = [...entries.keys()].filter((path) => folders.has(path));
  const reachable = listed.filter((path) => !foldersOf(path).some((above) => closed.includes(above)));
  const open = new Set(reachable.filter((path) => entries.get(path)?.isFile()));
  for (const path of [...closed, ...reachable.filter((path) => !open.has(path))]) {
    const entry = entries.get(path);
    if (!entry) findings.add(path, "not there", "is not there");
    else if (entry.isSymbolicLink()) findings.add(path, "symlink", "is a symlink, which is not followed");
    else findings.add(path, "no file", folders.has(path) ? "is not a folder" : "is not a regular file");
  }
  return open;
}

/** The entries of a folder by path; expected folders are replaced by their own entries. */
async function readEntries(folder: string, expected: ReadonlySet<string>, above = ""): Promise<Map<string, Dirent>> {
  const entries = new Map<string, Dirent>();
  for (const entry of await readdir(join(folder, above), { withFileTypes: true })) {
    const path = `${above}${entry.name}`;
    if (!entry.isDirectory() || !expected.has(path)) entries.set(path, entry);
    else for (const [inner, found] of await readEntries(folder, expected, `${path}/`)) entries.set(inner, found);
  }
  return entries;
}

/** Reads every byte of a file and checks its size and hash, those of its text, and whether its last row is complete. */
async function problemsIn(path: string, file: ListedFile | ManifestFile, { signal, progress }: Verifying) {
  const onBytes = (length: number) => {
    signal.throwIfAborted();
    progress.done += length;
  };
  const bytes = await factsOf(readPieces(path), onBytes);
  const problems = differences("", bytes, file);
  if (!("rows" in file)) return problems;
  const { format, compression } = partsOf(file);
  if (compression === "none") return [...problems, ...(format === "parquet" ? [] : openEnd(bytes))];
  if (problems.length > 0) return problems; // wrong bytes imply a wrong uncompressed text, so do not report both
  try {
    const text = await factsOf(readTextPieces(path), () => onBytes(0));
    return [...(file.uncompressed ? differences("its text ", text, file.uncompressed) : []), ...openEnd(text)];
  } catch (error) {
    if (error instanceof UnreadableError) return [error.message];
    throw error;
  }
}

/** The size and the hash of some bytes, and the last byte. */
type Facts = Pick<ListedFile, "bytes" | "sha256"> & { readonly last?: number | undefined };

async function factsOf(pieces: AsyncIterable<Buffer>, onBytes: (length: number) => void): Promise<Facts> {
  const hash = createHash("sha256");
  let bytes = 0;
  let last: number | undefined;
  for await (const piece of pieces) {
    onBytes(piece.length);
    hash.update(piece);
    bytes += piece.length;
    last = piece.at(-1);
  }
  return { bytes, sha256: hash.digest("hex"), last };
}

function differences(name: string, found: Facts, listed: Facts): readonly string[] {
  return [
    ...(found.bytes === listed.bytes ? [] : [`${name}has ${found.bytes} bytes instead of ${listed.bytes}`]),
    ...(found.sha256 === listed.sha256 ? [] : [`${name}has the SHA-256 ${found.sha256} instead of ${listed.sha256}`]),
  ];
}

function openEnd({ bytes, last }: Facts): readonly string[] {
  return bytes > 0 && last !== 10 ? ["does not end with a line feed"] : [];
}

const listed = listOf(object({ dataset_id: text, state: text }));
const listSchema = v.pipe(text, v.parseJson(), object({ datasets: listed }));

/** The ids of the datasets whose documents the service listed. For a shard, they are in the list of all documents. */
async function listedDatasets(folder: string, { shard, discovered }: Manifest, findings: Findings) {
  const list = shard
    ? valueIf(listSchema, await readFile(join(folder, listName), "utf8"))?.datasets
    : (discovered?.datasets ?? []);
  if (!list) findings.add(listName, "list", "is not a list of documents");
  const listed = list?.filter(({ state }) => state === "listed" || state === "unsettled");
  return listed?.map(({ dataset_id: id }) => id) ?? [];
}
