import { createHash, hash } from "node:crypto";
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  listName,
  type Manifest,
  type ManifestFile,
  manifestName,
  type Original,
  originalsFolder,
  partsOf,
} from "../dump/manifest.js";
import { listOf, object, text, valueIf } from "../schema.js";
import { type Checked, type Findings, listedPerKind } from "./findings.js";
import { readPieces, readText } from "./readers/read-text.js";
import { UnreadableError } from "./readers/rows.js";

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
  addUnlisted(others, ".", findings);
  const closed = [...entries.keys()].filter((path) => folders.has(path));
  for (const path of closed) addWrongEntry(path, entries.get(path), "folder", findings);
  return [...files.values()].filter(
    ({ path }) =>
      !foldersOf(path).some((above) => closed.includes(above)) && isRegular(path, entries.get(path), findings),
  );
}

/** A finding for each of the first, and the number of the others for the folder. */
function addUnlisted(paths: readonly string[], folder: string, findings: Findings): void {
  for (const path of paths.slice(0, listedPerKind))
    findings.add(path, "not listed", `is in the folder, but not in ${manifestName}`);
  findings.addAll(folder, "not listed", [], Math.max(0, paths.length - listedPerKind));
}

/** Whether an entry of the folder is a file that can be opened; a finding where it is not. */
function isRegular(path: string, entry: Entry | undefined, findings: Findings): boolean {
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
  problems(name: string, listed: Pick<Original, "bytes" | "sha256"> | undefined): readonly string[] {
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

/** The datasets of a list of documents, as far as verify looks at it. */
const listSchema = object({ datasets: listOf(object({ dataset_id: text, state: text })) });

type ListedDatasets = readonly { readonly dataset_id: string; readonly state: string }[];

/**
 * Gives the ids of the datasets whose documents the service listed. The run of a shard keeps the list of all documents, whose hash is
 * compared.
 */
export async function checkList(
  folder: string,
  { shard, discovered }: Manifest,
  findings: Findings,
): Promise<readonly string[]> {
  const datasets = shard ? await readList(folder, shard, findings) : discovered?.datasets;
  const listed = datasets?.filter(({ state }) => state === "listed" || state === "unsettled");
  return listed?.map(({ dataset_id: id }) => id) ?? [];
}

async function readList(
  folder: string,
  { list }: NonNullable<Manifest["shard"]>,
  findings: Findings,
): Promise<ListedDatasets> {
  const path = join(folder, listName);
  const entry = await lstat(path).catch(() => undefined);
  if (!isRegular(listName, entry, findings)) return [];
  const pieces: Buffer[] = [];
  for await (const piece of readPieces(path)) pieces.push(piece);
  const json = Buffer.concat(pieces);
  const sha256 = hash("sha256", json);
  if (sha256 !== list.sha256) {
    findings.add(listName, "bytes", `has the SHA-256 ${sha256} instead of ${list.sha256}`);
    return [];
  }
  const found = datasetsIn(json);
  if (!found) findings.add(listName, "list", "is no list of documents");
  return found ?? [];
}

function datasetsIn(json: Buffer): ListedDatasets | undefined {
  try {
    return valueIf(listSchema, JSON.parse(json.toString("utf8")))?.datasets;
  } catch {
    return undefined;
  }
}

type Listed = Original & { readonly path: string };

/** Reads every original that the manifest lists, and looks for files that it does not. Gives the numbers of files. */
export async function checkOriginals(
  folder: string,
  { originals }: Manifest,
  findings: Findings,
  onBytes: (bytes: number) => void,
): Promise<Pick<Checked, "originals" | "attachments">> {
  const listed = (originals ?? []).flatMap((original) =>
    original.path === null ? [] : [{ ...original, path: original.path }],
  );
  if (!originals) return { originals: null, attachments: null };
  await checkUnlisted(folder, listed, findings);
  for (const original of listed) {
    const problems = await originalProblems(folder, original, onBytes);
    for (const message of problems) findings.add(original.path, "original", message);
  }
  const attachments = listed.filter(({ attachment_id: id }) => id !== null).length;
  return { originals: listed.length - attachments, attachments };
}

/** No name of the path may be a link. */
async function originalProblems(
  folder: string,
  original: Listed,
  onBytes: (bytes: number) => void,
): Promise<readonly string[]> {
  const names = original.path.split("/");
  for (const [at] of names.entries()) {
    const facts = await lstat(join(folder, ...names.slice(0, at + 1))).catch(() => undefined);
    if (!facts) return ["is not there"];
    if (facts.isSymbolicLink()) return ["is a symlink, or in one, which is not followed"];
    if (at + 1 < names.length ? !facts.isDirectory() : !facts.isFile()) return ["is no regular file"];
  }
  const found = await Fingerprint.of(readPieces(join(folder, original.path)), onBytes);
  return found.problems("", original);
}

async function checkUnlisted(folder: string, listed: readonly Listed[], findings: Findings): Promise<void> {
  const known = new Set(listed.flatMap(({ path }) => [path, path.slice(0, path.lastIndexOf("/"))]));
  const others: string[] = [];
  for (const name of await namesIn(join(folder, originalsFolder))) {
    const path = `${originalsFolder}/${name}`;
    if (!known.has(path)) others.push(path);
    else
      for (const file of await namesIn(join(folder, path)))
        if (!known.has(`${path}/${file}`)) others.push(`${path}/${file}`);
  }
  addUnlisted(others, originalsFolder, findings);
}

/** The names in a folder, in order; none where it is no folder. A link is not followed. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const facts = await lstat(folder).catch(() => undefined);
  return facts?.isDirectory() ? (await readdir(folder)).sort() : [];
}
