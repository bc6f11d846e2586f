import { onTestFinished } from "vitest";
import { emptyReadProgress, type ReadProgress } from "../../src/read-progress.js";
import { plainFolder } from "../dump/formats/folder.js";

/** Gives this test its own folder for temporary files. */
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

/** Returns a progress object, and a signal that aborts with "enough" when the progress reaches a step. */
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
