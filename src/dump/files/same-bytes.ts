import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const pieceBytes = 1 << 20;

/** Whether two files have the same bytes. No link is followed. Rejects with the reason of the signal when it is aborted. */
export async function haveSameBytes(one: string, other: string, signal: AbortSignal): Promise<boolean> {
  const left = await openPlain(one);
  try {
    const right = await openPlain(other);
    try {
      return await compare(left, right, signal);
    } finally {
      await right.close();
    }
  } finally {
    await left.close();
  }
}

const openPlain = (path: string) => open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);

async function compare(left: FileHandle, right: FileHandle, signal: AbortSignal): Promise<boolean> {
  const [these, those] = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)];
  for (;;) {
    signal.throwIfAborted();
    const [found, wanted] = await Promise.all([fill(left, these), fill(right, those)]);
    if (!these.subarray(0, found).equals(those.subarray(0, wanted))) return false;
    if (found < pieceBytes) return true;
  }
}

/** Reads until the buffer is full or the file is at its end: a network drive may give less than was asked for. */
async function fill(file: FileHandle, buffer: Buffer): Promise<number> {
  for (let length = 0; ; ) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    length += bytesRead;
    if (bytesRead === 0 || length === buffer.length) return length;
  }
}
