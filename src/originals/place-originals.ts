import { type Original, originalsFolder, type SavedOriginal } from "../dump/manifest/original.js";
import { documentKey } from "../rows/document-row.js";
import { folderName, safeFileName } from "./file-name.js";

/**
 * Gives each file that there is a path of its own, in their order: `originals/<document>/<name>`, and for one that is attached to a chunk
 * `originals/<document>/<attachment>-<name>`.
 */
export function placeOriginals(saved: readonly SavedOriginal[]): readonly Original[] {
  const folders = foldersOf(saved);
  const taken = new Set<string>();
  const freePath = (folder: string, name: string): string => {
    const path = `${originalsFolder}/${folder}/${name}`;
    if (taken.has(path.toLowerCase())) return freePath(folder, `_${name}`); // some file systems do not tell cases apart
    taken.add(path.toLowerCase());
    return path;
  };
  return saved.map((original) => {
    const { dataset_id, document_id, attachment_id, chunk_id, ...others } = original;
    const folder = folders.get(documentKey(original)) ?? folderName(document_id);
    const path = original.sha256 === null ? null : freePath(folder, nameOf(original));
    return { dataset_id, document_id, attachment_id, chunk_id, path, ...others };
  });
}

function nameOf({ attachment_id: id, name }: SavedOriginal): string {
  const safe = safeFileName(name ?? "");
  return id === null ? safe : safeFileName(`${folderName(id)}-${safe}`);
}

/** One folder for each document; the same document of a second dataset gets one of another name. */
function foldersOf(saved: readonly SavedOriginal[]): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  const taken = new Set<string>();
  for (const original of saved) {
    const key = documentKey(original);
    if (folders.has(key)) continue;
    const plain = folderName(original.document_id);
    const folder = taken.has(plain) ? folderName(key) : plain;
    taken.add(folder);
    folders.set(key, folder);
  }
  return folders;
}
