import type { Dump } from "../../dump/open-dump.js";
import { StopError } from "../../errors.js";

/** StopError where a document of the service could not be read whole: then nothing can be said of it. */
export function refuseUnread({ manifest }: Dump): void {
  const unread = manifest.documents.filter(({ status }) => status !== "complete");
  if (unread.length === 0) return;
  const sentences = unread.map(({ document_id, status, error }) => `${document_id}: ${error ?? status}`);
  throw notCompared("documents could not be read whole", sentences);
}

/** StopError: the service did not show the settings of a dataset or document that this program made. */
export function refuseWithoutSettings({ manifest }: Dump, what: string): never {
  throw notCompared(`the settings of ${what} could not be read`, manifest.warnings);
}

function notCompared(reason: string, sentences: readonly string[]): StopError {
  const lines = [`nothing was proved, as ${reason} at the service:`, ...sentences.map((sentence) => `  ${sentence}`)];
  return new StopError([...lines, "run the same command again"].join("\n"));
}
