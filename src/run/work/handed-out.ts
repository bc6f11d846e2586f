import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isThere } from "../../dump/files/is-there.js";

const fileIn = (work: string) => join(work, "handed-out");

/** Notes in the work folder of a run that workers read its documents: from now on it may have results that lie elsewhere. */
export async function noteHandedOut(work: string): Promise<void> {
  await writeFile(fileIn(work), "", { mode: 0o600 });
}

/** Whether a run has handed out documents. */
export async function isHandedOut(work: string): Promise<boolean> {
  return isThere(fileIn(work));
}
