import { createHash } from "node:crypto";

/** Bytes of a name that every file system takes, with room for what others append. */
const longest = 200;
/** Windows takes these names for devices, whatever their ending. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;

/**
 * The name of a file in its folder, from a name that the service gave: as it is where that is safe. It never leads out of the
 * folder, and is never empty, hidden, a device or too long for the file system.
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

/** The name of the folder of a document: its id, or a hash where that is no plain word. */
export function folderName(documentId: string): string {
  if (/^[0-9a-z][0-9a-z_-]{0,99}$/.test(documentId) && !device.test(documentId)) return documentId;
  return createHash("sha256").update(documentId).digest("hex").slice(0, 32);
}

/** Cuts a long name before its ending. */
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
