import { inexactReason } from "../../../compare/document-rows.js";
import type { Dump } from "../../../dump/open-dump.js";
import { type Problem, UsageError } from "../../../errors.js";
import type { Kind } from "../../../rows/columns.js";
import { documentKey } from "../../../rows/row.js";
import { type CopyPlan, type CopySource, type DocumentPlan, type EarlierDocument, wishedName } from "../copy-plan.js";
import { type CopyOptions, type JournalFacts, noFacts } from "../copy-result.js";
import { type FoundTarget, findTargets, shownId, type TargetApi, type WishedDataset } from "./find-targets.js";
import { type ChosenDataset, chooseDatasets, listingWarnings, planDataset } from "./plan-dataset.js";
import { fitnessOf, formOf, noAttachments, noRows, planDocument } from "./plan-document.js";
import { type DumpReading, readDump } from "./read-dump.js";

type OwnerOptions = "documents" | "dataset" | "from" | "retryFailed" | "memory" | "signal" | "progress";

export interface PlanOptions extends Pick<CopyOptions, OwnerOptions> {
  readonly dump: Dump;
  /** The datasets and documents that earlier processes of this restore made; `dataset: "new"` makes others. */
  readonly facts: JournalFacts;
  /** Whether the target is the service that the dump came from: then it has the attachments already. */
  readonly isSameService: boolean;
}

export interface PlannedCopy {
  readonly plan: CopyPlan;
  /** Sentences. */
  readonly warnings: readonly string[];
  /** Keys of datasets and ids of documents in the dump whose copies the journal knows, and the target does not have any more. */
  readonly gone: readonly string[];
}

/**
 * Plans how a dump becomes datasets and documents of another service. It asks the target which datasets and documents are there, and
 * writes nothing. Texts of chunks stay in DuckDB. UsageError when the dump as a whole is not fit for it, or a wish cannot be fulfilled;
 * StopError when a file is not as its run wrote it, or the target does not tell what is there.
 */
export async function planCopy(api: TargetApi, options: PlanOptions): Promise<PlannedCopy> {
  const { dump, documents, from, dataset, retryFailed, progress } = options;
  checkWishes(dump, options);
  progress.step = "reading the run";
  const reading = await readDump(dump, options);
  const chosen = chooseDatasets(dump, reading, documents);
  progress.step = "asking the service";
  const { targets, gone, warnings } = await findTargets(api, chosen.map(wishOf), options);
  const facts = dataset === "new" ? noFacts : options.facts;
  const judge = fitnessOf(dump, from);
  const goneDocuments: string[] = [];
  const datasets = chosen.flatMap((each) => {
    const found = targets.get(each.key);
    if (!found) return [];
    const { plans, gone } = planDocuments(each, { reading, found, facts, judge, from, retryFailed });
    goneDocuments.push(...gone);
    return [planDataset(each, found, plans)];
  });
  return {
    plan: { from, datasets },
    warnings: [...(documents.length > 0 ? [] : listingWarnings(dump)), ...warnings],
    gone: [...gone, ...goneDocuments],
  };
}

function wishOf({ key, details: { dataset_id }, name, form }: ChosenDataset): WishedDataset {
  return { key, dataset_id, name: wishedName({ key, dataset_id, dataset_name: name }), form };
}

interface Grounds extends Pick<PlanOptions, "facts" | "from" | "retryFailed"> {
  readonly reading: DumpReading;
  readonly found: FoundTarget;
  readonly judge: ReturnType<typeof fitnessOf>;
}

/** The plans of the documents of a dataset, and those whose copies are gone. */
function planDocuments(
  { key: dataset_key, details: dataset, documents }: ChosenDataset,
  { reading, found, facts, judge, from, retryFailed }: Grounds,
): { readonly plans: readonly DocumentPlan[]; readonly gone: readonly string[] } {
  const gone: string[] = [];
  const plans = documents.map((document) => {
    const key = documentKey(document);
    const details = reading.documents.get(key);
    const known = facts.documents.get(document.document_id);
    const earlier = known && isThere(known, found) ? earlierOf(known, retryFailed) : null;
    if (known && !earlier) gone.push(document.document_id);
    return planDocument({
      ...{ document, dataset_key, from, dataset, details, earlier },
      fitness: judge(document, formOf({ document, details, dataset })),
      counts: reading.counts.get(key) ?? noRows,
      attachments: reading.attachments.get(key) ?? noAttachments,
    });
  });
  return { plans, gone };
}

type KnownDocument = EarlierDocument & { readonly target_dataset_id: string };

/** Whether the copy of a document is in the dataset. A list that may lack some shows of none that it is gone. */
function isThere({ target_id, target_dataset_id }: KnownDocument, { target, there }: FoundTarget): boolean {
  if (!there || target.kind === "new" || target.id !== target_dataset_id) return false;
  return there.documents.flaw !== null || there.documents.ids.has(target_id);
}

/** The state to go on from: a document that failed is begun again where the owner wants it tried again. */
function earlierOf({ target_id, state, reason }: KnownDocument, retryFailed: boolean): EarlierDocument {
  return { target_id, state: state === "failed" && retryFailed ? "begun" : state, reason };
}

/** The choices of the owner that a dump and a journal may not allow. */
export interface Wishes {
  readonly documents: readonly string[];
  readonly dataset: string | undefined;
  readonly from: CopySource;
  readonly facts: JournalFacts;
}

/** UsageError, with every problem, when a dump as a whole is not fit for a move, or does not have what the owner wishes for. */
export function checkWishes(dump: Dump, wishes: Wishes): void {
  const problems = [...dumpProblems(dump, wishes), ...documentProblems(dump, wishes), ...fromProblems(wishes)];
  if (problems.length > 0) throw new UsageError(`${dump.folder} cannot be restored to another service:`, problems);
}

function dumpProblems(dump: Dump, { from }: Wishes): readonly Problem[] {
  const { counts } = dump.manifest;
  const hasDetails = counts.datasets !== undefined && counts.document_details !== undefined;
  const message = "it has no details: run the job with details: true; a move needs the settings";
  const hasExact = (kinds: readonly Kind[]) => dump.tablesOf(kinds) !== undefined;
  const isExact =
    (!hasDetails || hasExact(["datasets", "document_details"])) &&
    (from === "originals" || hasExact(["chunks", "child_chunks"]));
  return [
    ...(hasDetails ? [] : [{ path: "", message }]),
    ...(isExact ? [] : [{ path: "", message: inexactReason(dump) }]),
  ];
}

function documentProblems({ manifest }: Dump, { documents }: Wishes): readonly Problem[] {
  const there = new Set(manifest.documents.map(({ document_id }) => document_id));
  return documents
    .filter((id) => !there.has(id))
    .map((id) => ({ path: "--document", message: `the run has no document ${shownId(id)}` }));
}

function fromProblems({ from, dataset, facts }: Wishes): readonly Problem[] {
  if (facts.from === null || facts.from === from || dataset === "new") return [];
  const message = `this restore was begun with --from ${facts.from}: go on with that, or make another copy with --dataset new`;
  return [{ path: "--from", message }];
}
