import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../errors.js";
import type { Kind } from "../normalise/columns.js";
import { partsOf } from "../verify/check-manifest.js";
import type { SoundDump } from "./sound-dump.js";

/** The rows of a kind as JSONL, open to be read. */
export interface OpenRows {
  readonly handle: FileHandle;
  /** The file that the rows come from, as errors name it. */
  readonly name: string;
}

/** Opens the rows of a kind. StopError when the dump has them in no format from which they can be had exactly. */
export async function openRows({ folder, manifest }: SoundDump, kind: Kind): Promise<OpenRows> {
  const file = manifest.files.find((each) => partsOf(each).kind === kind && partsOf(each).format === "jsonl");
  if (!file) throw new StopError(`${folder} has no ${kind}.jsonl`);
  const handle = await open(join(folder, file.path), constants.O_RDONLY | constants.O_NOFOLLOW);
  return { handle, name: file.path };
}
