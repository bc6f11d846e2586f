import type { Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/document-row.js";
import { wishedName } from "../dataset-key.js";
import { type JournalFacts, noFacts } from "../journal-facts.js";
import type { MoveOptions } from "../move-options.js";
import type { DocumentPlan, EarlierDocument, MovePlan } from "../move-plan.js";
import type { TargetApi } from "./ask-target.js";
import { checkWishes } from "./check-wishes.js";
import { type ChosenDataset, chooseDatasets, listingWarnings } from "./choose-documents.js";
import { noRows } from "./count-rows.js";
import { type FoundTarget, findTargets, type WishedDataset } from "./find-targets.js";
import { planDataset } from "./plan-dataset.js";
import { formOf, planDocument } from "./plan-document.js";
import { noAttachments } from "./read-attachments.js";
import { type DumpReading, readDump } from "./read-dump.js";
import { fitnessOf } from "./refuse-document.js";

type OwnerOptions = "documents" | "dataset" | "from" | "retryFailed" | "memory" | "signal" | "tally";

export interface PlanOptions extends Pick<MoveOptions, OwnerOptions> {
  readonly dump: Dump;
  /** The datasets and documents that earlier processes of this restore made; `dataset: "new"` makes others. */
  readonly facts: JournalFacts;
  /** Whether the target is the service that the dump came from: then it has the attachments already. */
  readonly isSameService: boolean;
}

export interface PlannedMove {
  readonly plan: MovePlan;
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
export async function planMove(api: TargetApi, options: PlanOptions): Promise<PlannedMove> {
  const { dump, documents, from, dataset, retryFailed, tally } = options;
  checkWishes(dump, options);
  tally.step = "reading the run";
  const reading = await readDump(dump, options);
  const chosen = chooseDatasets(dump, reading, documents);
  tally.step = "asking the service";
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
