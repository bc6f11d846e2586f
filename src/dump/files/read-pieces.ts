import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** The bytes of a file, a megabyte at a time. A symlink is not followed. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  yield* file.createReadStream({ highWaterMark: 1 << 20 }); // closes the file
}
