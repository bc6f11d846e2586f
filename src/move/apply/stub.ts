import { SkipError } from "../../errors.js";
import type { DocumentWork } from "./apply-options.js";
import { carryOut, madeBy } from "./carry-out.js";
import { readChunk, readCopy } from "./rows/read-copy.js";

/**
 * The text that a document is made with, before its chunks are added. The service cleans it and cuts it by the process rule: it is short, has
 * neither line breaks nor marks at which a rule cuts, and begins with no symbol that the service takes away.
 */
export function stubText(documentId: string): string {
  return `restored by kbdump from document ${documentId} and indexing it again leaves only this text`;
}

/**
 * Deletes the chunks that the service made of the stub, so that positions run from 1. Rows are added only after all of them are gone:
 * once the journal notes an addition, no chunk is the stub's any more, and nothing is deleted. SkipError where somebody else wrote.
 */
export async function deleteStub(work: DocumentWork): Promise<void> {
  const { options, plan, place } = work;
  const { document_id, dataset_key } = plan;
  if (options.journal.additions(document_id).length > 0) return;
  const chunks = await readCopy(work);
  for (const { id, content } of chunks)
    if (!isOfStub(content, work))
      throw new SkipError(
        `somebody else wrote chunk ${id} into it at the service: delete it there, then restore again with --retry-failed`,
      );
  for (const { id } of chunks) {
    const facts = { write: "delete chunk", dataset_id: dataset_key, document_id, target_id: id } as const;
    const find = async () => ((await readChunk(work, id)) ? undefined : { ids: [] });
    const carried = await carryOut(options, facts, options.writer.deleteChunk(place, id), find);
    const isThere = carried.kind !== "refused" || carried.status !== 404;
    if (isThere) madeBy(carried, "delete the chunk of the new document");
  }
}

/** A language model words the chunks of a qa_model document: they can be any text. */
function isOfStub(content: string, { plan }: DocumentWork): boolean {
  return plan.doc_form === "qa_model" || isPieceOfStub(content, plan.document_id);
}

/** Whether a text is the stub of a document of the dump, or a piece of that. */
export function isPieceOfStub(content: string, documentId: string): boolean {
  return lettersOf(stubText(documentId)).includes(lettersOf(content));
}

/** Without white space, which process rules may change. */
function lettersOf(text: string): string {
  return text.replace(/\s/g, "");
}
