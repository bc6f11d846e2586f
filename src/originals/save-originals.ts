import { constants } from "node:fs";
import { copyFile, link, lstat, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Client } from "../client/open-client.js";
import type { DocumentNames } from "../crawl/discovery.js";
import {
  type Manifest,
  type Original,
  originalsFolder,
  type SavedOriginal,
  savedOriginalSchema,
} from "../dump/manifest.js";
import { forEachOf, makeOwnFolder, readJsonFile, writeJsonFile } from "../files/files.js";
import { flush } from "../files/flush.js";
import { valueIf } from "../schema.js";
import type { Workspace } from "../store/lease.js";
import { countOf, nameAndId } from "../words.js";
import { assignPaths } from "./file-names.js";
import { type AskOptions, askerOfFiles, type FileApi, noOriginals, type WantedFile } from "./file-routes.js";
import { earlierFiles, type FileFacts, type SaveOptions, saveOriginal } from "./save-one-file.js";

/** An original, and its path until the run is staged. */
export interface HeldOriginal {
  readonly original: Original;
  readonly file: string;
}

interface SaveAllOptions extends Omit<SaveOptions, "reuse" | "signal">, AskOptions {
  readonly api: FileApi & Pick<Client, "stop" | "signal">;
  readonly workspace: Workspace;
  readonly job: string;
  /** Files to download at once. */
  readonly atOnce: number;
  readonly onSaved: (done: number) => void;
}

/**
 * Saves files and returns them in the same order. Skips files that an earlier process of this run completed, and downloads no file
 * that is unchanged since the previous run.
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
      api.stop(error); // an error that is not a verdict ends the run: the others must stop
      throw error;
    }),
  );
  const placed = assignPaths(saved);
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

/** A complete file from an earlier process. Its facts were written after the file was on disk. */
async function savedBefore({ ref }: WantedFile, file: string): Promise<SavedOriginal | undefined> {
  const original = valueIf(savedOriginalSchema, await readJsonFile(`${file}.json`));
  if (original?.verdict !== "complete" || original.document_id !== ref.documentId) return undefined;
  const facts = await lstat(file).catch(() => undefined);
  return facts?.isFile() && facts.size === original.bytes ? original : undefined;
}

/** The originals for the manifest; undefined if the job asks for none. */
export function listOriginals(held: readonly HeldOriginal[] | undefined): Pick<Manifest, "originals"> {
  return held ? { originals: held.map(({ original }) => original) } : {};
}

/** Hard-links the files into the staged run folder, or copies them if linking fails. */
export async function stageOriginals(held: readonly HeldOriginal[], stage: string): Promise<void> {
  const folder = join(stage, originalsFolder);
  await rm(folder, { recursive: true, force: true });
  for (const { original, file } of held) {
    if (original.path === null) continue;
    const target = join(stage, original.path);
    await makeOwnFolder(folder);
    await makeOwnFolder(dirname(target));
    await link(file, target).catch(async () => {
      await copyFile(file, target, constants.COPYFILE_FICLONE);
      await flush(target);
    });
    await flush(dirname(target));
  }
  if (held.some(({ original }) => original.path !== null)) await flush(folder);
}

/** Maximum incomplete originals to name in warnings. A pipeline can leave thousands of documents without one. */
const named = 20;

/**
 * The warning if the release has no route for originals. It names no number, so that all shards of a run use the same text and
 * a joined run shows it once.
 */
const noRoute = `${noOriginals}: it has neither …/upload-file (Dify up to 1.8) nor …/download (Dify 1.13.1 or later)`;

/**
 * A sentence for each incomplete original, up to a maximum. All originals that are missing because the release has no route
 * share one sentence.
 */
export function originalWarnings(originals: readonly Original[], names: DocumentNames): readonly string[] {
  const incomplete = originals.filter(({ verdict }) => verdict !== "complete");
  const bad = incomplete.filter(({ reason }) => reason !== noOriginals);
  const more = bad.length - named;
  return [
    ...(bad.length < incomplete.length ? [noRoute] : []),
    ...bad.slice(0, named).map((original) => {
      const { verdict, reason } = original;
      return `${subjectOf(original, names)} ${verdict === "missing" ? "is missing" : "has the wrong size"}: ${reason}`;
    }),
    ...(more > 0 ? [`and ${countOf(more, "more original")} are not complete: manifest.json lists them`] : []),
  ];
}

function subjectOf(original: Original, names: DocumentNames): string {
  const { document_id: id, attachment_id: attachment, chunk_id: chunk, name } = original;
  if (attachment === null) return `the original of document ${nameAndId(names.get(id) ?? name, id)}`;
  return `attachment ${nameAndId(name, attachment)} of chunk ${chunk} of document ${nameAndId(names.get(id), id)}`;
}
