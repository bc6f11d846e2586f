import type { Listed } from "../../client/check-answer.js";
import { textIn } from "../../compare/document-rows.js";
import type { RowDifference } from "../../compare/proof/prove.js";
import { ifSkipped, SkipError } from "../../errors.js";
import { cutText } from "../../safe-text.js";
import { isMapping } from "../../schema.js";
import { countOf } from "../../words.js";
import { type StandingField, stateOf } from "../reconcile.js";
import { ifThere, readStandingChunks } from "../target-rows.js";
import { madeBy } from "../write-once.js";
import type { DocumentPlan, ValuePlan } from "./copy-plan.js";
import type { CopiedDocument } from "./copy-result.js";
import { copyRows } from "./copy-rows.js";
import { type ApplyOptions, DocumentCopy, writeToDataset } from "./document-work.js";

/** The dataset of the target for a document, or the reason why there is none. */
export type Home =
  | { readonly id: string; readonly fields: ReadonlyMap<string, StandingField> }
  | { readonly failure: string };

type End = Pick<CopiedDocument, "outcome" | "reason">;

/** Copies one document with its rows and settings, and records the outcome. Rejects only with errors that end the whole copy. */
export async function copyDocument(plan: DocumentPlan, home: Home, options: DocumentOptions): Promise<CopiedDocument> {
  const { journal, log, progress } = options;
  const { dataset_id, document_id, document_name } = plan;
  const failed: RowDifference[] = [];
  const end = await endOf(plan, home, failed, options).catch(
    ifSkipped(({ message }): End => ({ outcome: "failed", reason: message })),
  );
  if (end.outcome === "restored") progress.documentsDone++;
  else {
    progress.documentsFailed++;
    log("warn", `document ${document_id}: ${end.reason}`);
  }
  const known = journal.facts.documents.get(document_id);
  return {
    ...{ dataset_id, document_id, document_name, failed, ...end },
    target_dataset_id: known?.target_dataset_id ?? ("id" in home ? home.id : null),
    target_id: known?.target_id ?? null,
  };
}

/** Copies the document, and returns how it ended. Collects in `failed` the rows that were not copied. */
async function endOf(plan: DocumentPlan, home: Home, failed: RowDifference[], options: DocumentOptions): Promise<End> {
  const { journal } = options;
  const { document_id } = plan;
  if (plan.earlier?.state === "restored") return { outcome: "restored", reason: null };
  if ("failure" in home) throw new SkipError(home.failure);
  if (journal.open.some((intent) => intent.document_id === document_id))
    throw new SkipError("the outcome of an earlier write to it is unknown; run the same command again later");
  const copy = await openCopy(plan, home.id, failed, options);
  await copyRows(copy);
  const problems: string[] = [];
  const [first] = failed;
  const were = failed.length === 1 ? "was" : "were";
  if (first) problems.push(`${countOf(failed.length, "row")} ${were} not copied: ${first.reason}`);
  const noteProblem = ifSkipped(({ message }) => void problems.push(message));
  await setMetadata(copy, home.fields).catch(noteProblem);
  await setState(copy, plan).catch(noteProblem);
  if (problems.length > 0) return { outcome: "partial", reason: problems.join("; ") };
  await journal.finish(document_id);
  return { outcome: "restored", reason: null };
}

interface DocumentOptions extends ApplyOptions {
  /** Runs work that must not overlap between documents. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Makes the copy of a document, or continues that of an earlier process, until it is indexed and without the chunks of its stub. */
async function openCopy(
  plan: DocumentPlan,
  datasetId: string,
  failed: RowDifference[],
  options: DocumentOptions,
): Promise<DocumentCopy> {
  const standing = await continueCopy(plan, datasetId, options);
  const documentId = standing ?? (await options.alone(() => makeDocument(plan, datasetId, options)));
  const copy = new DocumentCopy(options, plan, { datasetId, documentId }, failed);
  await watchIndexing(options, copy.place);
  if (standing !== undefined) await setState(copy, { enabled: true, archived: false }); // otherwise it accepts no chunks
  await deleteStub(copy);
  return copy;
}

/** The id of the copy that an earlier process made; undefined if it is gone. Deletes a copy that was never indexed. */
async function continueCopy(plan: DocumentPlan, datasetId: string, options: ApplyOptions): Promise<string | undefined> {
  const { journal, writer } = options;
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
  const copy = new DocumentCopy(options, plan, { datasetId, documentId: known.target_id });
  const facts = { write: "delete document", target_id: known.target_id } as const;
  const request = writer.deleteDocument(datasetId, known.target_id);
  madeBy(await copy.write({ facts, request }), "delete the document that it could not index");
  return undefined;
}

/** Makes a document from the stub, and returns its id. Runs one at a time: after a lost answer, only one new document can be ours. */
async function makeDocument(plan: DocumentPlan, datasetId: string, options: ApplyOptions): Promise<string> {
  const { dataset_key, document_id, document_name: name } = plan;
  const { doc_form, doc_language, indexing_technique, process_rule } = plan;
  if (options.journal.open.some((open) => open.write === "create document" && open.name === name))
    throw new SkipError("the service may still make an earlier one of its name; run the same command again later");
  const settings = { doc_form, doc_language, indexing_technique, process_rule };
  const request = options.writer.createByText(datasetId, { name, text: stubText(document_id), ...settings });
  const facts = { write: "create document", dataset_id: dataset_key, document_id, old_id: document_id, name } as const;
  const [id] = await writeToDataset({ facts, request }, datasetId, "make the document", options);
  if (id === undefined) throw new SkipError("the service made it, but its id is not known; restore again");
  return id;
}

/**
 * The text that a document is made with, before its chunks are added. The service cleans it and splits it by the process rule, so it is
 * short, has no line breaks or characters at which a rule splits, and does not begin with a symbol that the service strips.
 */
function stubText(documentId: string): string {
  return `restored by kbdump from document ${documentId} and indexing it again leaves only this text`;
}

/**
 * Deletes the chunks that the service made from the stub, so that positions start at 1. Rows are added only after all of them are
 * gone, so nothing is deleted once the journal has an addition. Throws SkipError if someone else added a chunk.
 */
async function deleteStub(copy: DocumentCopy): Promise<void> {
  const { options, plan, place } = copy;
  if (options.journal.additions(plan.document_id).length > 0) return;
  const lettersOf = (text: string) => text.replace(/\s/g, ""); // process rules may change white space
  const stub = lettersOf(stubText(plan.document_id));
  const chunks = await readStandingChunks(options.api, place);
  // A language model writes the chunks of a qa_model document, so they can be any text.
  const stranger = chunks.find(({ content }) => plan.doc_form !== "qa_model" && !stub.includes(lettersOf(content)));
  if (stranger)
    throw new SkipError(
      `someone else added chunk ${stranger.id} into it at the service: delete it there, then restore again`,
    );
  for (const { id } of chunks) await copy.deleteChunk(id);
}

/** The wait between two checks, in milliseconds: the first, which doubles, and the maximum. */
const [firstWait, longestWait] = [200, 5_000];
/** Maximum milliseconds without progress, and maximum characters of the service's words to show. */
const patience = 30 * 60_000;
const longestWords = 300;

/** Waits until a document is indexed. Throws SkipError if the indexing fails, is paused, or makes no progress for 30 minutes. */
export async function watchIndexing(
  { api, now, sleep, signal }: Pick<ApplyOptions, "api" | "now" | "sleep" | "signal">,
  { datasetId, documentId }: DocumentCopy["place"],
): Promise<void> {
  let seen = "";
  let movedAt = now();
  for (let wait = firstWait; ; wait = Math.min(longestWait, wait * 2)) {
    const document = await api.document(datasetId, documentId);
    const { indexing_status, completed_segments, total_segments, error } = document;
    if (indexing_status === "completed") return;
    if (indexing_status === "paused")
      throw new SkipError("its indexing is paused at the service: resume it there, then restore again");
    const words = cutText(textIn(error) ?? "", longestWords);
    if (indexing_status === "error")
      throw new SkipError(`the service could not index it${words === "" ? "" : `: ${words}`}`);
    const state = JSON.stringify([indexing_status, completed_segments, total_segments]);
    if (state !== seen) movedAt = now();
    seen = state;
    if (now() - movedAt >= patience)
      throw new SkipError(`the service does not index it: no progress for 30 minutes (${textIn(indexing_status)})`);
    await sleep(wait, signal);
  }
}

/** An archived document accepts no other change, so unarchiving comes first and archiving last. */
async function setState(copy: DocumentCopy, wanted: Readonly<Record<"enabled" | "archived", boolean>>): Promise<void> {
  const { datasetId, documentId } = copy.place;
  const { enabled, archived } = stateOf(await readDocument(copy));
  const change = async (action: "enable" | "disable" | "archive" | "un_archive") => {
    const facts = { write: "set status", target_id: documentId, name: action } as const;
    const request = copy.writer.setStatus(datasetId, action, [documentId]);
    madeBy(await copy.write({ facts, request }), `${action} it`);
  };
  const isOther = enabled !== wanted.enabled;
  if (archived && (!wanted.archived || isOther)) await change("un_archive");
  if (isOther) await change(wanted.enabled ? "enable" : "disable");
  if (wanted.archived && (!archived || isOther)) await change("archive");
}

/** Sets the metadata values in one request, unless the document has them. Throws SkipError, after that, if a field is missing. */
export async function setMetadata(copy: DocumentCopy, fields: ReadonlyMap<string, StandingField>): Promise<void> {
  const { options, plan, place } = copy;
  const planned = plan.metadata.filter(({ value }) => value !== null && value !== "");
  const values = planned.flatMap(({ name, value }) => {
    const field = fields.get(name);
    return field ? [{ id: field.id, name, value }] : [];
  });
  const find = async () => (hasValues(await readDocument(copy), values) ? { ids: [] } : undefined);
  if (values.length > 0 && !(await find())) {
    const facts = { write: "set metadata", target_id: place.documentId } as const;
    const request = options.writer.setMetadata(place.datasetId, place.documentId, values);
    madeBy(await copy.write({ facts, request }, find), "set its metadata");
  }
  const missing = planned.filter(({ name }) => !fields.has(name)).map(({ name }) => `"${name}"`);
  if (missing.length > 0) throw new SkipError(`the dataset there has no metadata field ${missing.join(", ")}`);
}

/** A service may show a number as text. */
function hasValues({ doc_metadata }: Listed, values: readonly ValuePlan[]): boolean {
  const standing = Array.isArray(doc_metadata) ? doc_metadata.filter(isMapping) : [];
  const texts = new Map(standing.map(({ name, value }) => [name, String(value)]));
  return values.every(({ name, value }) => texts.get(name) === String(value));
}

async function readDocument({ options, place }: DocumentCopy): Promise<Listed> {
  return options.api.document(place.datasetId, place.documentId);
}
