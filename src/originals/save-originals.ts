import { link, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DocumentRef } from "../client/knowledge-api.js";
import type { Client } from "../client/open-client.js";
import { fingerprint } from "../dump/files/join-parts.js";
import { readJsonFile, writeJsonFile } from "../dump/files/json-file.js";
import type { Manifest } from "../dump/manifest/manifest.js";
import { type Original, originalSchema, originalsFolder } from "../dump/manifest/original.js";
import { documentKey } from "../rows/document-row.js";
import type { PlacedDocument } from "../run/discover/discovery.js";
import { forEachOf } from "../run/work/for-each-of.js";
import { makeOwnFolder } from "../run/work/job-folders.js";
import { runBefore } from "../run/work/run-before.js";
import type { Workspace } from "../run/work/workspace.js";
import { valueIf } from "../schema.js";
import { folderName, safeFileName } from "./file-name.js";
import { type SaveOptions, saveOriginal, type UploadedFile } from "./save-original.js";

/** An original, and where it lies until the run is staged. */
export interface HeldOriginal {
  readonly original: Original;
  readonly file: string;
}

export interface SaveAllOptions extends Omit<SaveOptions, "reuse"> {
  readonly api: SaveOptions["api"] & Pick<Client, "stop">;
  readonly workspace: Workspace;
  readonly job: string;
  /** Files that are fetched at once. */
  readonly atOnce: number;
  readonly onSaved: (done: number) => void;
}

/**
 * Saves the originals of documents, in their order. A complete one that an earlier process of this run saved is not asked for
 * again, and one that is as in the run before is not fetched.
 */
export async function saveOriginals(
  documents: readonly PlacedDocument[],
  options: SaveAllOptions,
): Promise<readonly HeldOriginal[]> {
  const folder = join(options.workspace.work, originalsFolder);
  await makeOwnFolder(folder);
  const folders = folderNames(documents.map(({ ref }) => ref));
  const reuse = await earlierFiles(options);
  const held: HeldOriginal[] = [];
  let done = 0;
  const hold = async (index: number, { ref, name }: PlacedDocument) => {
    const file = join(folder, name);
    const earlier = await savedBefore(ref, file);
    const original = earlier ?? (await save(ref, file, folders[index] ?? name, { ...options, reuse: reuse(ref) }));
    if (!earlier) await writeJsonFile(`${file}.json`, original);
    held[index] = { original, file };
    options.onSaved(++done);
  };
  await forEachOf([...documents.entries()], options.atOnce, ([index, document]) =>
    hold(index, document).catch((error: unknown) => {
      options.api.stop(error); // what is no verdict ends the run: the others must not go on
      throw error;
    }),
  );
  return held;
}

async function save(ref: DocumentRef, file: string, folder: string, options: SaveOptions): Promise<Original> {
  const saved = await saveOriginal(ref, file, options);
  if (saved.sha256 === null) await rm(file, { force: true });
  const path = saved.sha256 === null ? null : `${originalsFolder}/${folder}/${safeFileName(saved.name ?? "")}`;
  return { dataset_id: ref.datasetId, document_id: ref.documentId, path, ...saved };
}

/** A complete file of an earlier process; its facts were written when it lay on the disk. */
async function savedBefore(ref: DocumentRef, file: string): Promise<Original | undefined> {
  const original = valueIf(originalSchema, await readJsonFile(`${file}.json`));
  if (original?.verdict !== "complete" || original.document_id !== ref.documentId) return undefined;
  const facts = await lstat(file).catch(() => undefined);
  return facts?.isFile() && facts.size === original.bytes ? original : undefined;
}

/** One folder for each document; the same document of a second dataset gets one of another name. */
function folderNames(refs: readonly DocumentRef[]): readonly string[] {
  const taken = new Set<string>();
  return refs.map(({ datasetId, documentId }) => {
    const plain = folderName(documentId);
    const name = taken.has(plain) ? folderName(JSON.stringify([datasetId, documentId])) : plain;
    taken.add(name);
    return name;
  });
}

/**
 * The files of the run before, each of which gets a second name where the service still has the same upload of the same size and
 * its bytes are those of the manifest.
 */
async function earlierFiles({ workspace, job }: SaveAllOptions): Promise<(ref: DocumentRef) => SaveOptions["reuse"]> {
  const before = await runBefore(workspace, job).catch(() => undefined);
  const known = new Map(before?.originals?.map((original) => [documentKey(original), original]));
  return ({ datasetId, documentId }) =>
    async (file, path) => {
      const original = known.get(documentKey({ dataset_id: datasetId, document_id: documentId }));
      if (!before || !original || !isSameUpload(original, file)) return undefined;
      return linkSound(join(workspace.runs, before.run_id), original, path).catch(() => undefined);
    };
}

function isSameUpload({ verdict, path, file_id, bytes }: Original, { id, size }: UploadedFile): boolean {
  return verdict === "complete" && path !== null && id !== null && file_id === id && bytes === size;
}

/** The file that is hashed is the one that has the name, whatever happens to the published one meanwhile. */
async function linkSound(
  run: string,
  { path: published, sha256 }: Original,
  path: string,
): Promise<Awaited<ReturnType<SaveOptions["reuse"]>>> {
  if (published === null) return undefined;
  await rm(path, { force: true });
  await link(join(run, published), path);
  const facts = await lstat(path);
  const isPlain = facts.isFile() && (facts.mode & 0o777) === 0o600;
  const found = isPlain ? await fingerprint(path) : undefined;
  if (found?.sha256 === sha256) return found;
  await rm(path, { force: true });
  return undefined;
}

/** The originals as a manifest lists them; undefined where the job asks for none. */
export function listOriginals(held: readonly HeldOriginal[] | undefined): Pick<Manifest, "originals"> {
  return held ? { originals: held.map(({ original }) => original) } : {};
}
