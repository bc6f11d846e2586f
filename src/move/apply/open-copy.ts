import type { DocumentPlan } from "../move-plan.js";
import type { ApplyOptions, DocumentWork } from "./apply-options.js";
import { carryOut, madeBy } from "./carry-out.js";
import { openForRows } from "./document-state.js";
import { ifThere } from "./if-there.js";
import { makeDocument } from "./make-document.js";
import { deleteStub } from "./stub.js";
import { watchIndexing } from "./watch-indexing.js";

export interface CopyOptions extends ApplyOptions {
  /** Runs work that must not be done for two documents at once. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Makes the copy of a document ready for its rows, or the whole of it where it is made of its original: makes it, or goes on with
 * the one that an earlier process made; waits until it is indexed; and takes away the chunks of the stub. SkipError where that fails.
 */
export async function openCopy(plan: DocumentPlan, datasetId: string, options: CopyOptions): Promise<DocumentWork> {
  const { journal } = options;
  const standing = await goOnWith(plan, datasetId, options);
  const documentId = standing ?? (await options.alone(() => makeDocument(plan, datasetId, options)));
  const work = { options, plan, place: { datasetId, documentId } };
  await watchIndexing(options, work.place, journal.batchOf(plan.document_id));
  if (plan.original) return work;
  if (standing !== undefined) await openForRows(work);
  await deleteStub(work);
  return work;
}

/** The id of the copy that an earlier process made; undefined where it is gone. One that was never indexed is deleted. */
async function goOnWith(plan: DocumentPlan, datasetId: string, options: ApplyOptions): Promise<string | undefined> {
  const { journal } = options;
  const { document_id } = plan;
  const known = journal.facts.documents.get(document_id);
  if (!known) return undefined;
  const isThere = known.target_dataset_id === datasetId;
  const standing = isThere ? await ifThere(() => options.api.document(datasetId, known.target_id)) : undefined;
  if (!standing) {
    await journal.forget(document_id);
    return undefined;
  }
  if (standing.indexing_status !== "error" || journal.additions(document_id).length > 0) return known.target_id;
  await deleteCopy(plan, { datasetId, documentId: known.target_id }, options);
  return undefined;
}

async function deleteCopy(
  { dataset_key, document_id }: DocumentPlan,
  { datasetId, documentId }: DocumentWork["place"],
  options: ApplyOptions,
): Promise<void> {
  const facts = { write: "delete document", dataset_id: dataset_key, document_id, target_id: documentId } as const;
  const read = () => options.api.document(datasetId, documentId);
  const find = async () => ((await ifThere(read)) ? undefined : { ids: [] });
  const write = options.writer.deleteDocument(datasetId, documentId);
  madeBy(await carryOut(options, facts, write, find), "delete the document that it could not index");
}
