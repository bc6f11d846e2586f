import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "../client/open-client.js";
import { readJsonFile, writeJsonFile } from "../dump/files/json-file.js";
import type { Manifest } from "../dump/manifest/manifest.js";
import { type Original, originalsFolder, type SavedOriginal, savedOriginalSchema } from "../dump/manifest/original.js";
import { forEachOf } from "../run/work/for-each-of.js";
import { makeOwnFolder } from "../run/work/job-folders.js";
import type { Workspace } from "../run/work/workspace.js";
import { valueIf } from "../schema.js";
import { type AskOptions, askerOfFiles, type FileApi } from "./ask-for-file.js";
import { earlierFiles } from "./earlier-files.js";
import { placeOriginals } from "./place-originals.js";
import { type FileFacts, type SaveOptions, saveOriginal } from "./save-original.js";
import type { WantedFile } from "./wanted-files.js";

/** An original, and where it lies until the run is staged. */
export interface HeldOriginal {
  readonly original: Original;
  readonly file: string;
}

export interface SaveAllOptions extends Omit<SaveOptions, "reuse" | "signal">, AskOptions {
  readonly api: FileApi & Pick<Client, "stop" | "signal">;
  readonly workspace: Workspace;
  readonly job: string;
  /** Files that are fetched at once. */
  readonly atOnce: number;
  readonly onSaved: (done: number) => void;
}

/**
 * Saves files and gives them in the same order. A complete one that an earlier process of this run saved is not asked for again,
 * and one that is as in the run before is not fetched.
 */
export async function saveOriginals(
  wanted: readonly WantedFile[],
  options: SaveAllOptions,
): Promise<readonly HeldOriginal[]> {
  const { api, workspace } = options;
  const folder = join(workspace.work, originalsFolder);
  await makeOwnFolder(folder);
  const reuse = await earlierFiles(workspace, options.job);
  const askerOf = askerOfFiles(options);
  const pathOf = ({ name }: WantedFile) => join(folder, name);
  const saved: SavedOriginal[] = [];
  let done = 0;
  const save = async (index: number, one: WantedFile) => {
    const file = pathOf(one);
    const earlier = await savedBefore(one, file);
    const how = { ...options, signal: api.signal, reuse: reuse(one) };
    const original = earlier ?? originalOf(one, await saveOriginal(askerOf(one), file, how));
    if (original.sha256 === null) await rm(file, { force: true });
    if (!earlier) await writeJsonFile(`${file}.json`, original);
    saved[index] = original;
    options.onSaved(++done);
  };
  await forEachOf([...wanted.entries()], options.atOnce, ([index, one]) =>
    save(index, one).catch((error: unknown) => {
      api.stop(error); // what is no verdict ends the run: the others must not go on
      throw error;
    }),
  );
  const placed = placeOriginals(saved);
  return wanted.flatMap((one, index) => {
    const original = placed[index];
    return original ? [{ original, file: pathOf(one) }] : [];
  });
}

function originalOf({ ref, attachment }: WantedFile, facts: FileFacts): SavedOriginal {
  return {
    dataset_id: ref.datasetId,
    document_id: ref.documentId,
    attachment_id: attachment?.id ?? null,
    chunk_id: attachment?.chunkId ?? null,
    ...facts,
  };
}

/** A complete file of an earlier process; its facts were written when it lay on the disk. */
async function savedBefore({ ref }: WantedFile, file: string): Promise<SavedOriginal | undefined> {
  const original = valueIf(savedOriginalSchema, await readJsonFile(`${file}.json`));
  if (original?.verdict !== "complete" || original.document_id !== ref.documentId) return undefined;
  const facts = await lstat(file).catch(() => undefined);
  return facts?.isFile() && facts.size === original.bytes ? original : undefined;
}

/** The originals as a manifest lists them; undefined where the job asks for none. */
export function listOriginals(held: readonly HeldOriginal[] | undefined): Pick<Manifest, "originals"> {
  return held ? { originals: held.map(({ original }) => original) } : {};
}
