import { link, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { fingerprint } from "../dump/files/join-parts.js";
import type { Original } from "../dump/manifest/original.js";
import { runBefore } from "../run/work/run-before.js";
import type { Workspace } from "../run/work/workspace.js";
import type { OfferedFile } from "./ask-for-file.js";
import type { Received } from "./judge-original.js";
import type { WantedFile } from "./wanted-files.js";

/** Puts the same file of an earlier run at the path; undefined where there is none that is sound. */
export type Reuse = (file: OfferedFile, path: string) => Promise<Pick<Received, "bytes" | "sha256"> | undefined>;

/**
 * The files of the run before, each of which gets a second name where the service still has the same upload of the same size and
 * its bytes are those of the manifest.
 */
export async function earlierFiles(workspace: Workspace, job: string): Promise<(wanted: WantedFile) => Reuse> {
  const before = await runBefore(workspace, job).catch(() => undefined);
  const known = new Map(before?.originals?.map((original) => [keyOf(original), original]));
  return ({ ref, attachment }) =>
    async (file, path) => {
      const ids = { dataset_id: ref.datasetId, document_id: ref.documentId, attachment_id: attachment?.id ?? null };
      const original = known.get(keyOf(ids));
      if (!before || !original || !isSameUpload(original, file)) return undefined;
      return linkSound(join(workspace.runs, before.run_id), original, path).catch(() => undefined);
    };
}

type Ids = Pick<Original, "dataset_id" | "document_id" | "attachment_id">;

function keyOf({ dataset_id, document_id, attachment_id }: Ids): string {
  return JSON.stringify([dataset_id, document_id, attachment_id]);
}

function isSameUpload({ verdict, path, file_id, bytes }: Original, { id, size }: OfferedFile): boolean {
  return verdict === "complete" && path !== null && id !== null && file_id === id && bytes === size;
}

/** The file that is hashed is the one that has the name, whatever happens to the published one meanwhile. */
async function linkSound(
  run: string,
  { path: published, sha256 }: Original,
  path: string,
): Promise<Awaited<ReturnType<Reuse>>> {
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
