import { withSpill } from "../../duckdb/with-spill.js";
import type { Dump } from "../../dump/open-dump.js";
import { StopError } from "../../errors.js";
import type { ProofDifference } from "../applied.js";
import type { Intent } from "../apply/journal-lines.js";
import { proveRestore } from "../apply/prove.js";
import type { WrittenRow } from "../apply/written-rows.js";
import { loadDocumentRows } from "../load-document-rows.js";
import type { RestoreOptions } from "../restore-options.js";
import type { TargetDocument } from "../target-service.js";

export interface ProofOptions extends Pick<RestoreOptions, "memory" | "signal"> {
  /** The documents that were written to. */
  readonly documents: readonly TargetDocument[];
  /** From before the first write. */
  readonly before: Dump;
  readonly after: Dump;
  readonly written: readonly WrittenRow[];
  /** Adds whose answer never came. */
  readonly openAdds: readonly Intent[];
}

/**
 * Compares documents with what they were before the first write, one at a time. Gives what nobody announced. StopError where one could
 * not be read whole: then nothing is proved.
 */
export async function proveDocuments(options: ProofOptions): Promise<readonly ProofDifference[]> {
  const { documents, before, after, written, openAdds } = options;
  refuseUnread(after);
  return withSpill(":memory:", options, async (connection) => {
    const readBefore = await loadDocumentRows(connection, "before", before, documents, options);
    const readAfter = await loadDocumentRows(connection, "after", after, documents, options);
    const differences: ProofDifference[] = [];
    for (const document of documents) {
      const rows = { before: await readBefore(document), after: await readAfter(document) };
      differences.push(...proveRestore({ documentId: document.document_id, ...rows, written, openAdds }));
    }
    return differences;
  });
}

function refuseUnread({ manifest }: Dump): void {
  const unread = manifest.documents.filter(({ status }) => status !== "complete");
  if (unread.length === 0) return;
  const sentences = unread.map(({ document_id, status, error }) => `  ${document_id}: ${error ?? status}`);
  throw new StopError(
    `what was written could not be proved, as documents could not be read whole:\n${sentences.join("\n")}\nrun the same command again to prove it`,
  );
}
