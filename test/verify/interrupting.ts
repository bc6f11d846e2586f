import { onTestFinished } from "vitest";
import { emptyReadProgress, type ReadProgress } from "../../src/read-progress.js";
import { plainFolder } from "../dump/formats/folder.js";

/** Makes a folder for temporary files that is this test's own. */
export async function ownTemporaryFolder(): Promise<string> {
  const before = process.env.TMPDIR;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const folder = await plainFolder();
  process.env.TMPDIR = folder;
  return folder;
}

/** Gives a tally, and a signal that is aborted with "enough" when the tally comes to a step. */
export function abortAt(step: string): { readonly progress: ReadProgress; readonly signal: AbortSignal } {
  const stop = new AbortController();
  const progress = new Proxy(emptyReadProgress(), {
    set: (target, name, value) => {
      if (value === step) stop.abort(new Error("enough"));
      return Reflect.set(target, name, value);
    },
  });
  return { progress, signal: stop.signal };
}
