import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, open, rm } from "node:fs/promises";
import type { Kind } from "../../rows/columns.js";
import { ByteFacts, type FileFacts } from "./byte-facts.js";
import { flush } from "./flush.js";

/** A file that was written while the crawl went on, and what is in it. */
export interface PartFile extends FileFacts {
  readonly kind: Kind;
  readonly format: string;
  readonly path: string;
}

/**
 * Makes a file of `head` and then the parts, one after the other, that only its owner can read; flushed to disk. A part
 * that is the whole file is not written a second time: it gets a second name, and must not be written to any more.
 */
export async function joinParts(target: string, head: string, parts: readonly PartFile[]): Promise<FileFacts> {
  await rm(target, { force: true });
  const [first, ...others] = parts;
  if (first && others.length === 0 && head === "") {
    await link(first.path, target).catch(() => copyFile(first.path, target, constants.COPYFILE_FICLONE));
    await flush(target);
    return first;
  }
  const counted = new ByteFacts();
  const file = await open(target, "wx", 0o600);
  try {
    const write = async (piece: Uint8Array) => {
      counted.add(piece);
      await file.writeFile(piece);
    };
    if (head) await write(Buffer.from(head));
    const buffer = Buffer.allocUnsafe(1 << 20);
    for (const { path } of parts) await readPieces(path, buffer, write);
    await file.sync();
  } finally {
    await file.close();
  }
  return counted.facts;
}

/** Bytes and hash of a file, read in pieces. */
export async function fingerprint(path: string): Promise<Pick<FileFacts, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  let bytes = 0;
  await readPieces(path, Buffer.allocUnsafe(1 << 20), async (piece) => {
    hash.update(piece);
    bytes += piece.length;
  });
  return { bytes, sha256: hash.digest("hex") };
}

async function readPieces(path: string, buffer: Buffer, take: (piece: Uint8Array) => Promise<void>): Promise<void> {
  const file = await open(path, "r");
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      await take(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
