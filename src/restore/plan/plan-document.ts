import type { ChildRow, ChunkRow, DocumentRows } from "../document-rows.js";
import { groupRows } from "../group-rows.js";
import type { ChunkRestore, DocumentPlan, TargetChunk } from "../restore-plan.js";
import type { DocumentHistory } from "./document-history.js";
import { type ChildrenDecision, planChildren } from "./plan-children.js";
import { type ChunkDecision, type PlanOptions, planChunk } from "./plan-chunk.js";
import { type Study, studyDocument } from "./study.js";

/**
 * Decides on one document: which rows that people made or changed stand in the target no more, which of them are written back, and
 * which are left to the owner. `history` knows the older run and those before it. The order of the rows does not matter.
 */
export function planDocument(
  old: DocumentRows,
  history: DocumentHistory,
  target: DocumentRows,
  options: PlanOptions & { readonly document_name: string | null },
): DocumentPlan {
  const refused = refusalOf(old, target);
  if (refused !== null) return refusedPlan(old, options.document_name, refused);
  const study = studyDocument(old, history, target);
  const decisions = study.olds.map((chunk) => planChunk(chunk, study, options));
  const [olds, targets] = [childrenBelow(old), childrenBelow(target)];
  const decided = decisions.map((decision) => {
    const { home, old } = decision;
    const family = { olds: olds(old.id), home, targets: home === null || home === "added" ? [] : targets(home.id) };
    return {
      ...decision,
      family: planChildren(family, { history, reindexed: study.reindexed, chosen: options.chosen }),
    };
  });
  const parents = new Set(study.olds.map(({ id }) => id));
  const orphans = planChildren(
    { olds: old.children.filter(({ segment_id }) => !parents.has(segment_id)), home: null, targets: [] },
    { history, reindexed: study.reindexed, chosen: options.chosen },
  );
  return {
    ...headOf(old, options.document_name),
    refused: null,
    restores: decided.flatMap((decision) => restoresOf(decision, study)),
    listed: [
      ...decided.flatMap(({ listed, family }) => [...(listed ? [listed] : []), ...family.listed]),
      ...orphans.listed,
    ],
    losses: decided.flatMap(({ losses }) => losses),
    present: decided.reduce((sum, { present, family }) => sum + Number(present) + family.present, 0),
  };
}

/** The plan of a document that nothing may be written to. */
export function refusedPlan(
  document: Pick<DocumentPlan, "dataset_id" | "document_id" | "doc_form">,
  document_name: string | null,
  refused: string,
): DocumentPlan {
  return { ...headOf(document, document_name), refused, restores: [], listed: [], losses: [], present: 0 };
}

function headOf(
  { dataset_id, document_id, doc_form }: Pick<DocumentPlan, "dataset_id" | "document_id" | "doc_form">,
  document_name: string | null,
) {
  return { dataset_id, document_id, document_name, doc_form };
}

/** Texts of one form mean something else in another. */
function refusalOf(old: DocumentRows, target: DocumentRows): string | null {
  if (old.doc_form === null || target.doc_form === null || old.doc_form === target.doc_form) return null;
  return `It was ${old.doc_form} and is ${target.doc_form} now: its chunks cannot be compared.`;
}

function childrenBelow({ children }: DocumentRows): (chunk: string) => readonly ChildRow[] {
  const groups = groupRows(children, ({ segment_id }) => segment_id);
  return (chunk) => groups.get(chunk) ?? [];
}

function restoresOf(
  decision: ChunkDecision & { readonly family: ChildrenDecision },
  { equalTo }: Study,
): readonly ChunkRestore[] {
  const { old, home, texts, disable, evidence, family } = decision;
  if (home === null || (texts === null && !disable && family.children.length === 0)) return [];
  const target = home === "added" ? null : targetOf(home);
  const { id, position } = old;
  const equal = texts === null ? 0 : equalTo(old);
  return [{ chunk_id: id, position, evidence, target, texts, equal, disable, children: family.children }];
}

function targetOf({ id, position, enabled, status, content, answer, keywords }: ChunkRow): TargetChunk {
  return { id, position, enabled, status, content, answer, keywords };
}
