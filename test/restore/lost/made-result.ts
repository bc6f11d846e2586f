import {
  type ChunkRestore,
  countPlan,
  type DocumentPlan,
  type ListedLoss,
  type ManualEdit,
  type TargetChunk,
} from "../../../src/compare/lost/restore-plan.js";
import { type AppliedRow, type RestoreResult, statusOf } from "../../../src/restore/lost/restore-options.js";

/** Ids that sort by number. */
export const idOf = (number: number) => `1e63378f-0ff6-41a4-8f48-${String(number).padStart(12, "0")}`;

export const manual = "3c78b355-02b2-493f-8fdf-c51cba3a53a5";

/** A manual edit by the user. */
export function editOf(kind: ManualEdit["kind"] = "edited"): ManualEdit {
  return { kind, by: kind === "customized" ? null : "ann", at: "2026-11-18T14:02:03.000Z" };
}

export function targetOf(number: number, content: string): TargetChunk {
  return {
    id: idOf(number),
    position: number,
    enabled: true,
    status: "completed",
    content,
    answer: null,
    keywords: null,
  };
}

export function restoreOf(number: number, more: Partial<ChunkRestore> = {}): ChunkRestore {
  return {
    chunk_id: idOf(number),
    position: number,
    edit: editOf(),
    evidence: ["updated_by"],
    target: null,
    texts: { content: `Text ${number} of a hand.`, answer: null, keywords: null },
    equal: 0,
    disable: false,
    children: [],
    ...more,
  };
}

export function listedOf(number: number, more: Partial<ListedLoss> = {}): ListedLoss {
  return {
    level: "chunk",
    id: idOf(number),
    segment_id: null,
    position: number,
    edit: editOf(),
    why: "needs your decision",
    reason: "It is not known what stood there before.",
    content: `Lost ${number}.`,
    answer: null,
    now: null,
    now_answer: null,
    choice: "add",
    ...more,
  };
}

export function documentOf(more: Partial<DocumentPlan> = {}): DocumentPlan {
  return {
    dataset_id: idOf(900),
    document_id: manual,
    document_name: "Manual.md",
    doc_form: "text_model",
    lost: 0,
    manual_edits: 0,
    refused: null,
    restores: [],
    listed: [],
    losses: [],
    present: 0,
    ...more,
  };
}

export function appliedOf(number: number, more: Partial<AppliedRow> = {}): AppliedRow {
  return {
    document_id: manual,
    level: "chunk",
    id: idOf(number),
    position: number,
    outcome: "written",
    target_id: idOf(number + 100),
    reason: null,
    ...more,
  };
}

/** A result for these documents with matching counts and status; the plan of each document lists its losses. */
export function resultOf(documents: readonly DocumentPlan[], more: Partial<RestoreResult> = {}): RestoreResult {
  const plan = { documents: documents.map(withNumbers) };
  const { applied = null, differences = null } = more;
  return {
    status: statusOf({ plan, applied, differences }),
    run: { folder: "output/nightly/runs/20261119T020000123Z", job: "nightly", run_id: "20261119T020000123Z" },
    base_url: "https://kb.example.com/v1",
    against: null,
    lost: sumOf(plan.documents, "lost"),
    manual_edits: sumOf(plan.documents, "manual_edits"),
    plan,
    plan_file: null,
    counts: countPlan(plan),
    applied,
    differences,
    undo: applied && "output/nightly/runs/20261119T020000123Z.restore/before/runs/20261120T020000123Z",
    journal: applied && "output/nightly/runs/20261119T020000123Z.restore/journal.jsonl",
    warnings: [],
    ...more,
  };
}

function withNumbers(document: DocumentPlan): DocumentPlan {
  const rows = countPlan({ documents: [document] }).rows + document.listed.length;
  return { ...document, lost: document.lost || rows, manual_edits: document.manual_edits || rows };
}

function sumOf(documents: readonly DocumentPlan[], name: "lost" | "manual_edits"): number {
  return documents.reduce((sum, document) => sum + document[name], 0);
}

/** A plan that covers every case. */
export const everything: DocumentPlan = documentOf({
  lost: 14,
  manual_edits: 10,
  restores: [
    restoreOf(12, {
      evidence: ["updated_by", "history"],
      target: targetOf(112, "Open the valve slowly."),
      texts: { content: "Open the valve slowly, and never above 4.5 bar.", answer: null, keywords: ["valve", "bar"] },
    }),
    restoreOf(40, {
      edit: editOf("added"),
      evidence: ["created_at"],
      texts: { content: "Ask for Ms Ito.", answer: "She knows.", keywords: null },
      disable: true,
    }),
    restoreOf(21, {
      edit: editOf("disabled"),
      evidence: ["disabled_by"],
      target: targetOf(121, "Paragraph 21."),
      texts: null,
      disable: true,
    }),
    restoreOf(7, {
      edit: null,
      evidence: ["chosen"],
      target: { ...targetOf(107, "Parent."), status: "error" },
      texts: { content: "Parent, repaired.", answer: null, keywords: null },
      children: [
        {
          child_id: idOf(71),
          position: 1,
          edit: editOf("customized"),
          evidence: ["customized"],
          content: "Child by hand.",
          twin: { id: idOf(72), content: "Child." },
        },
        {
          child_id: idOf(73),
          position: 2,
          edit: editOf("customized"),
          evidence: ["customized"],
          content: "Another child.",
          twin: null,
        },
      ],
    }),
  ],
  listed: [
    listedOf(90, { why: "found inside", reason: "Its text occurs inside a chunk of the target." }),
    listedOf(91, {
      reason: "The target does not have the text that the edit replaced.",
      now: "Changed by others.",
      choice: "replace",
    }),
    listedOf(92, {
      level: "child_chunk",
      segment_id: idOf(7),
      edit: editOf("customized"),
      reason: "Its parent chunk is not in the target.",
      choice: null,
    }),
    listedOf(93, { why: "cannot be restored", reason: "A part of its text is blank.", choice: null }),
    listedOf(94, { edit: null, why: "left out", reason: "You decided to leave it alone." }),
  ],
  losses: [{ level: "chunk", id: idOf(12), position: 12, part: "attachments", reason: "one of them is gone" }],
  present: 3,
});
