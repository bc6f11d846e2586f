import { createHash } from "node:crypto";
import { type Original, originalsFolder, type SavedOriginal } from "../dump/manifest.js";
import { documentKey } from "../rows/row.js";

/**
 * Assigns a unique path to each existing file, in order: `originals/<document>/<name>`, or
 * `originals/<document>/<attachment>-<name>` for a file attached to a chunk.
 */
export function assignPaths(saved: readonly SavedOriginal[]): readonly Original[] {
  const folders = foldersOf(saved);
  const taken = new Set<string>();
  const freePath = (folder: string, name: string): string => {
    const path = `${originalsFolder}/${folder}/${name}`;
    if (taken.has(path.toLowerCase())) return freePath(folder, `_${name}`); // some file systems ignore case
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

/** The folder name of every document. If two datasets have the same document, its second folder gets another name. */
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

/** Maximum bytes of a file name, leaving room for suffixes of other programs. */
const longest = 200;
/** Names that Windows reserves for devices, with any ending. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;

/**
 * A safe file name from the service's name, unchanged if possible. It never leaves the folder, and is never empty,
 * hidden, too long, or the name of a device.
 */
export function safeFileName(name: string): string {
  const plain = name
    .toWellFormed()
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>:"/\\|?*]/gu, "_")
    .replace(/^[\s.]+|[\s.]+$/g, "");
  if (plain === "") return "original";
  const short = cutName(plain);
  return device.test(short) ? `_${short}` : short;
}

/** The folder name of a document: its id, or a hash if the id has unusual characters. */
export function folderName(documentId: string): string {
  if (/^[0-9a-z][0-9a-z_-]{0,99}$/.test(documentId) && !device.test(documentId)) return documentId;
  return createHash("sha256").update(documentId).digest("hex").slice(0, 32);
}

/** Shortens a long name, keeping its ending. */
function cutName(name: string): string {
  if (Buffer.byteLength(name) <= longest) return name;
  const ending = /\.[\p{L}\p{N}]{1,12}$/u.exec(name)?.[0] ?? "";
  let stem = "";
  for (const character of name.slice(0, name.length - ending.length)) {
    if (Buffer.byteLength(stem + character + ending) > longest) break;
    stem += character;
  }
  return stem.replace(/[\s.]+$/, "") + ending;
}
