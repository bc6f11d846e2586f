import { SkipError } from "../../errors.js";
import type { DocumentWork } from "./apply-options.js";
import { carryOut, madeBy } from "./carry-out.js";
import { findDocument } from "./find-made.js";
import { ifThere } from "./if-there.js";
import { nameOf } from "./make-document.js";
import type { CopyOptions } from "./open-copy.js";
import { readCopy } from "./rows/read-copy.js";
import { isPieceOfStub } from "./stub.js";
import { watchIndexing } from "./watch-indexing.js";

/**
 * Deletes the second copy of a document, which comes up where the service made one after all that counted as not made. Only its stub, which
 * names the document of the dump, proves that it is ours: SkipError for any other new document of the same name. No document is made
 * meanwhile: one whose answer is under way would look like a twin.
 */
export async function deleteTwins(work: DocumentWork, { alone, journal }: CopyOptions): Promise<void> {
  if (journal.mayShowUp("create document", work.plan.document_id)) await alone(() => deleteNewOnes(work));
}

async function deleteNewOnes(work: DocumentWork): Promise<void> {
  const { options, plan, place } = work;
  const { datasetId } = place;
  const { dataset_key, document_id } = plan;
  for (;;) {
    const [twin] = (await findDocument(options, datasetId, nameOf(plan)))?.ids ?? [];
    if (twin === undefined) return;
    const copy = { datasetId, documentId: twin };
    await watchIndexing(options, copy, null);
    const chunks = await readCopy({ ...work, place: copy });
    const isOurs = chunks.length > 0 && chunks.every(({ content }) => isPieceOfStub(content, document_id));
    if (!isOurs) throw new SkipError(`document ${twin} there may be a second copy of it: look at it, and delete it`);
    const facts = { write: "delete document", dataset_id: dataset_key, document_id, target_id: twin } as const;
    const read = () => options.api.document(datasetId, twin);
    const find = async () => ((await ifThere(read)) ? undefined : { ids: [] });
    madeBy(await carryOut(options, facts, options.writer.deleteDocument(datasetId, twin), find), "delete its twin");
  }
}
