import { basename, join } from "node:path";
import type { Original } from "./manifest/original.js";
import type { Dump } from "./open-dump.js";

/** A complete original or attachment of a dump. */
export interface SavedFile {
  /** Absolute. */
  readonly path: string;
  /** As the service names it; the name of the file where it did not. */
  readonly name: string;
  readonly mime_type: string | null;
  readonly bytes: number;
  /** In hex, according to the manifest. */
  readonly sha256: string;
}

/** The complete files attached to chunks of a dump, by the ids of the attachments. They are not opened. */
export function attachmentFiles({
  folder,
  manifest,
}: Pick<Dump, "folder" | "manifest">): ReadonlyMap<string, SavedFile> {
  const files = new Map<string, SavedFile>();
  for (const original of manifest.originals ?? []) {
    const { attachment_id: id } = original;
    const file = savedFile(original, folder);
    if (id !== null && file && !files.has(id)) files.set(id, file);
  }
  return files;
}

/** The file of an original in the folder of its run; undefined where it is not complete. */
export function savedFile(original: Original, folder: string): SavedFile | undefined {
  const { verdict, path, sha256, name, mime_type, bytes } = original;
  if (verdict !== "complete" || path === null || sha256 === null) return undefined;
  return { path: join(folder, path), name: name ?? basename(path), mime_type, bytes, sha256 };
}
