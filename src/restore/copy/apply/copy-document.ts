import type { Listed } from "../../../client/check-answer.js";
import type { PreparedWrite } from "../../../client/write/operations.js";
import type { CreatedDocument } from "../../../client/write/write-outcome.js";
import { textIn } from "../../../compare/document-rows.js";
import { SkipError } from "../../../errors.js";
import { problemText } from "../../../file-error.js";
import { fingerprint } from "../../../files/join-segments.js";
import { cutText } from "../../../safe-text.js";
import { countOf } from "../../../words.js";
import { copyName, type DocumentPlan, type FilePlan } from "../copy-plan.js";
import type { FailedRow, MovedDocument } from "../copy-result.js";
import { copyRows } from "../rows/copy-rows.js";
import { readChunk, readCopy } from "../rows/document-copy.js";
import type { ApplyOptions, DocumentWork } from "./apply-options.js";
import { closeAsPlanned, openForRows, setMetadata } from "./document-state.js";
import type { Equipped } from "./equip-dataset.js";
import { executeWrite, findDocument, madeBy } from "./execute-write.js";

export interface CopyDocumentOptions extends CopyOptions {
  /** Whether a document that failed earlier is tried again. */
  readonly retryFailed: boolean;
}

/** The dataset of the target that takes a document, or the reason that there is none. */
export type Home = { readonly id: string; readonly fields: Equipped["fields"] } | { readonly failure: string };

type End = Pick<MovedDocument, "outcome" | "reason"> & { readonly failed?: readonly FailedRow[] };

/**
 * Copies one document with everything that belongs to it, and notes how that ended. A failure is the document's own: rejects only
 * with what ends the whole move.
 */
export async function copyDocument(
  plan: DocumentPlan,
  home: Home,
  options: CopyDocumentOptions,
): Promise<MovedDocument> {
  const { journal, log, progress } = options;
  const { dataset_id, document_id, document_name } = plan;
  const end = await endOf(plan, home, options);
  if (end.outcome === "restored") progress.documentsDone++;
  else progress.documentsFailed++;
  if (end.outcome === "failed" || end.outcome === "partial") log("warn", `document ${document_id}: ${end.reason}`);
  const known = journal.facts.documents.get(document_id);
  return {
    ...{ dataset_id, document_id, document_name, failed: [], ...end },
    target_dataset_id: known?.target_dataset_id ?? ("id" in home ? home.id : null),
    target_id: known?.target_id ?? null,
  };
}

async function endOf(plan: DocumentPlan, home: Home, options: CopyDocumentOptions): Promise<End> {
  const { journal, retryFailed } = options;
  const { document_id } = plan;
  const earlier = journal.facts.documents.get(document_id);
  if (earlier?.state === "restored") return { outcome: "restored", reason: null };
  if (earlier?.state === "failed" && !retryFailed) return { outcome: "waiting", reason: earlier.reason };
  if ("failure" in home) return { outcome: "failed", reason: home.failure };
  const end = await copyContents(plan, home, options).catch((error: unknown): End => {
    if (!(error instanceof SkipError)) throw error;
    return { outcome: "failed", reason: error.message };
  });
  if (journal.facts.documents.has(document_id) && !hasOpenWrite(journal, document_id))
    await journal.finish(document_id, end.outcome === "restored" ? "restored" : "failed", end.reason);
  return end;
}

async function copyContents(
  plan: DocumentPlan,
  { id, fields }: Extract<Home, { readonly id: string }>,
  options: CopyDocumentOptions,
): Promise<End> {
  if (hasOpenWrite(options.journal, plan.document_id))
    throw new SkipError("the outcome of an earlier write to it is unknown; run the same command again later");
  const work = await openCopy(plan, id, options);
  const { failed, reason } = plan.original ? { failed: [], reason: null } : await copyRowsOf(work);
  if (reason !== null) return { outcome: "failed", reason, failed };
  const problems = [
    ...(failed.length > 0 ? [`${countOf(failed.length, "row")} did not come: ${failed[0]?.reason}`] : []),
    ...(await problemOf(() => setMetadata(work, fields))),
    ...(await problemOf(() => closeAsPlanned(work))),
    ...(await problemOf(() => deleteTwins(work, options))),
  ];
  if (problems.length > 0) return { outcome: "partial", reason: problems.join("; "), failed };
  return { outcome: "restored", reason: null };
}

/** Whether the service may still execute a write to a document: the next command then continues it. */
function hasOpenWrite({ open }: ApplyOptions["journal"], documentId: string): boolean {
  return open.some(({ document_id }) => document_id === documentId);
}

async function copyRowsOf(work: DocumentWork) {
  return copyRows(work, await work.options.readRows(work.plan));
}

async function problemOf(work: () => Promise<void>): Promise<readonly string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (error instanceof SkipError) return [error.message];
    throw error;
  }
}

/**
 * Deletes the second copy of a document, which comes up where the service made one after all that counted as not made. Only its stub, which
 * names the document of the dump, proves that it is ours: SkipError for any other new document of the same name. No document is made
 * meanwhile: one whose answer is under way would look like a twin.
 */
async function deleteTwins(work: DocumentWork, { alone, journal }: CopyOptions): Promise<void> {
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
    madeBy(await executeWrite(options, facts, options.writer.deleteDocument(datasetId, twin), find), "delete its twin");
  }
}

interface CopyOptions extends ApplyOptions {
  /** Runs work that must not be done for two documents at once. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Makes the copy of a document ready for its rows, or the whole of it where it is made of its original: makes it, or goes on with
 * the one that an earlier process made; waits until it is indexed; and takes away the chunks of the stub. SkipError where that fails.
 */
async function openCopy(plan: DocumentPlan, datasetId: string, options: CopyOptions): Promise<DocumentWork> {
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
  madeBy(await executeWrite(options, facts, write, find), "delete the document that it could not index");
}

/**
 * Makes a document, which the service then indexes, and gives its id: of its original file where the plan has one, else of the stub. Never two at once:
 * after a lost answer, only one new document can be ours. SkipError where it cannot be made.
 */
async function makeDocument(plan: DocumentPlan, datasetId: string, options: ApplyOptions): Promise<string> {
  const { dataset_key, document_id, original } = plan;
  if (original) await checkFile(original);
  const name = nameOf(plan);
  const write = creationOf(plan, datasetId, options);
  const facts = { write: "create document", dataset_id: dataset_key, document_id, old_id: document_id, name } as const;
  const executed = await executeWrite(options, facts, write, () => findDocument(options, datasetId, name));
  const [id] = madeBy(executed, "make the document");
  if (id === undefined) throw new SkipError("the service made it, but its id is not known; restore again");
  return id;
}

/** The name that the service gives the copy of a document. */
function nameOf({ document_name, original }: Pick<DocumentPlan, "document_name" | "original">): string {
  return original ? copyName(document_name, original.name) : document_name;
}

function creationOf(plan: DocumentPlan, datasetId: string, { writer }: ApplyOptions): PreparedWrite<CreatedDocument> {
  const { document_id, document_name, doc_form, doc_language, indexing_technique, process_rule, original } = plan;
  const settings = {
    ...{ doc_form, process_rule },
    ...(doc_language === null ? {} : { doc_language }),
    ...(indexing_technique === null ? {} : { indexing_technique }),
  };
  if (original) return writer.createByFile(datasetId, { ...original, name: nameOf(plan) }, settings);
  return writer.createByText(datasetId, { name: document_name, text: stubText(document_id), ...settings });
}

async function checkFile({ path, sha256 }: FilePlan): Promise<void> {
  const found = await fingerprint(path).catch((error: unknown) => {
    throw new SkipError(`${path}: the original cannot be read: ${problemText(error)}`, { cause: error });
  });
  if (found.sha256 !== sha256) throw new SkipError(`${path}: the original is not as its run saved it`);
}

/**
 * The text that a document is made with, before its chunks are added. The service cleans it and cuts it by the process rule: it is short, has
 * neither line breaks nor marks at which a rule cuts, and begins with no symbol that the service takes away.
 */
function stubText(documentId: string): string {
  return `restored by kbdump from document ${documentId} and indexing it again leaves only this text`;
}

/**
 * Deletes the chunks that the service made of the stub, so that positions run from 1. Rows are added only after all of them are gone:
 * once the journal notes an addition, no chunk is the stub's any more, and nothing is deleted. SkipError where somebody else wrote.
 */
async function deleteStub(work: DocumentWork): Promise<void> {
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
    const executed = await executeWrite(options, facts, options.writer.deleteChunk(place, id), find);
    const isThere = executed.kind !== "refused" || executed.status !== 404;
    if (isThere) madeBy(executed, "delete the chunk of the new document");
  }
}

/** A language model words the chunks of a qa_model document: they can be any text. */
function isOfStub(content: string, { plan }: DocumentWork): boolean {
  return plan.doc_form === "qa_model" || isPieceOfStub(content, plan.document_id);
}

/** Whether a text is the stub of a document of the dump, or a piece of that. */
function isPieceOfStub(content: string, documentId: string): boolean {
  return lettersOf(stubText(documentId)).includes(lettersOf(content));
}

/** Without white space, which process rules may change. */
function lettersOf(text: string): string {
  return text.replace(/\s/g, "");
}

/** The wait between two looks, in milliseconds: the first, which doubles, and the longest. */
const [firstWait, longestWait] = [200, 5_000];
/** Milliseconds without any progress that are too many, and characters of the service's words that are shown. */
const patience = 30 * 60_000;
const longestWords = 300;

type Watched = Pick<ApplyOptions, "api" | "now" | "sleep" | "signal">;

/**
 * Waits until the service has indexed a document. `batch`: null where no answer told it. SkipError, with the service's words, where
 * the indexing fails, is paused, or does not move for 30 minutes.
 */
export async function watchIndexing(
  { api, now, sleep, signal }: Watched,
  place: DocumentWork["place"],
  batch: string | null,
): Promise<void> {
  let known = batch;
  let seen = "";
  let movedAt = now();
  for (let wait = firstWait; ; wait = Math.min(longestWait, wait * 2)) {
    const entry = known === null ? undefined : await readEntry(api, place, known);
    if (!entry) known = null; // batches are forgotten before documents are
    const status = entry ?? (await api.document(place.datasetId, place.documentId));
    const { indexing_status, completed_segments, total_segments } = status;
    if (indexing_status === "completed") return;
    if (indexing_status === "error" || indexing_status === "paused") throw new SkipError(indexingEnd(status));
    const state = JSON.stringify([indexing_status, completed_segments, total_segments]);
    if (state !== seen) movedAt = now();
    seen = state;
    if (now() - movedAt >= patience)
      throw new SkipError(`the service does not index it: nothing moved for 30 minutes (${textIn(indexing_status)})`);
    await sleep(wait, signal);
  }
}

/** The entry of the document in its batch; undefined where the service does not know that. */
async function readEntry(
  api: Watched["api"],
  { datasetId, documentId }: DocumentWork["place"],
  batch: string,
): Promise<Listed | undefined> {
  const entries = await ifThere(() => api.indexingStatus(datasetId, batch));
  return entries?.find(({ id }) => id === documentId);
}

function indexingEnd({ indexing_status, error }: Listed): string {
  const words = cutText(textIn(error) ?? "", longestWords);
  if (indexing_status === "paused") return "its indexing is paused at the service: resume it there, then restore again";
  return `the service could not index it${words === "" ? "" : `: ${words}`}`;
}

/** Reads something; undefined where the service answers 404. */
async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SkipError && error.status === 404) return undefined;
    throw error;
  }
}
