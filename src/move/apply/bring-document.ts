import { SkipError } from "../../errors.js";
import { countOf } from "../../words.js";
import type { DocumentPlan } from "../move-plan.js";
import type { FailedRow, MovedDocument } from "../moved.js";
import type { ApplyOptions, DocumentWork } from "./apply-options.js";
import { deleteTwins } from "./delete-twins.js";
import { closeAsPlanned, setMetadata } from "./document-state.js";
import type { Equipped } from "./equip-dataset.js";
import { type CopyOptions, openCopy } from "./open-copy.js";
import { bringRows } from "./rows/bring-rows.js";

export interface BringOptions extends CopyOptions {
  /** Whether a document that failed earlier is tried again. */
  readonly retryFailed: boolean;
}

/** The dataset of the target that takes a document, or the reason that there is none. */
export type Home = { readonly id: string; readonly fields: Equipped["fields"] } | { readonly failure: string };

type End = Pick<MovedDocument, "outcome" | "reason"> & { readonly failed?: readonly FailedRow[] };

/**
 * Brings one document with everything that belongs to it, and notes how that ended. A failure is the document's own: rejects only
 * with what ends the whole move.
 */
export async function bringDocument(plan: DocumentPlan, home: Home, options: BringOptions): Promise<MovedDocument> {
  const { journal, log, tally } = options;
  const { dataset_id, document_id, document_name } = plan;
  const end = await endOf(plan, home, options);
  if (end.outcome === "restored") tally.documentsDone++;
  else tally.documentsFailed++;
  if (end.outcome === "failed" || end.outcome === "partial") log("warn", `document ${document_id}: ${end.reason}`);
  const known = journal.facts.documents.get(document_id);
  return {
    ...{ dataset_id, document_id, document_name, failed: [], ...end },
    target_dataset_id: known?.target_dataset_id ?? ("id" in home ? home.id : null),
    target_id: known?.target_id ?? null,
  };
}

async function endOf(plan: DocumentPlan, home: Home, options: BringOptions): Promise<End> {
  const { journal, retryFailed } = options;
  const { document_id } = plan;
  const earlier = journal.facts.documents.get(document_id);
  if (earlier?.state === "restored") return { outcome: "restored", reason: null };
  if (earlier?.state === "failed" && !retryFailed) return { outcome: "waiting", reason: earlier.reason };
  if ("failure" in home) return { outcome: "failed", reason: home.failure };
  const end = await bring(plan, home, options).catch((error: unknown): End => {
    if (!(error instanceof SkipError)) throw error;
    return { outcome: "failed", reason: error.message };
  });
  if (journal.facts.documents.has(document_id) && !hasOpenWrite(journal, document_id))
    await journal.finish(document_id, end.outcome === "restored" ? "restored" : "failed", end.reason);
  return end;
}

async function bring(
  plan: DocumentPlan,
  { id, fields }: Extract<Home, { readonly id: string }>,
  options: BringOptions,
): Promise<End> {
  if (hasOpenWrite(options.journal, plan.document_id))
    throw new SkipError("the outcome of an earlier write to it is unknown; run the same command again later");
  const work = await openCopy(plan, id, options);
  const { failed, reason } = plan.original ? { failed: [], reason: null } : await bringRowsOf(work);
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

/** Whether the service may still carry out a write to a document: the next command then continues it. */
function hasOpenWrite({ open }: ApplyOptions["journal"], documentId: string): boolean {
  return open.some(({ document_id }) => document_id === documentId);
}

async function bringRowsOf(work: DocumentWork) {
  return bringRows(work, await work.options.readRows(work.plan));
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
