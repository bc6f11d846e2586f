import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { openDump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/document-row.js";
import type { ProofDifference } from "../applied.js";
import type { Journal } from "../apply/journal.js";
import type { WrittenRow } from "../apply/written-rows.js";
import { groupRows } from "../group-rows.js";
import { readGone } from "../target/document-state.js";
import { type Course, dumpDocuments } from "./course.js";
import { proveDocuments } from "./prove-documents.js";

export interface WrittenOptions {
  readonly course: Course;
  /** The folder of the restore. */
  readonly folder: string;
  readonly journal: Journal;
  readonly api: KnowledgeApi;
}

/** Dumps the documents that were written to, and compares each with what it was before its first write. */
export async function proveWritten(options: WrittenOptions): Promise<readonly ProofDifference[]> {
  const { course, folder, journal, api } = options;
  const { written, openAdds } = journal;
  course.options.tally.step = "proving";
  const ids = new Set(written.map(({ document_id }) => document_id));
  const documents = course.old.manifest.documents.filter(({ document_id }) => ids.has(document_id));
  const gone = await readGone(api, documents);
  const differences = written.filter((row) => gone.has(documentKey(row))).map(goneWith);
  const left = documents.filter((document) => !gone.has(documentKey(document)));
  if (left.length === 0) return differences;
  const after = await dumpDocuments(course, { name: "after", dir: folder, documents: left });
  for (const [undo, those] of groupRows(left, ({ document_id }) => journal.undoOf(document_id) ?? "")) {
    const before = await openDump(undo, "nothing was proved");
    const proof = { ...course.options, documents: those, before, after, written, openAdds };
    differences.push(...(await proveDocuments(proof)));
  }
  return differences;
}

function goneWith({ document_id, level, id }: WrittenRow): ProofDifference {
  return { document_id, level, id, position: null, reason: "this restore wrote it, and its document is gone" };
}
