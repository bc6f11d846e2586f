import {
  type ChunkRestore,
  countPlan,
  type DocumentPlan,
  type ListedLoss,
  type TargetChunk,
} from "../../src/compare/lost/restore-plan.js";
import { type AppliedRow, type RestoreResult, statusOf } from "../../src/restore/restore-options.js";

/** Ids that sort by their number. */
export const idOf = (number: number) => `1e63378f-0ff6-41a4-8f48-${String(number).padStart(12, "0")}`;

export const manual = "3c78b355-02b2-493f-8fdf-c51cba3a53a5";

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
    why: "no evidence",
    reason: "nothing says that a person made it",
    content: `Lost ${number}.`,
    now: null,
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

/** A result of these documents, whose counts and status are as they must be. */
export function resultOf(documents: readonly DocumentPlan[], more: Partial<RestoreResult> = {}): RestoreResult {
  const plan = { documents };
  const { applied = null, differences = null } = more;
  return {
    status: statusOf({ plan, applied, differences }),
    run: { folder: "output/nightly/runs/20261119T020000123Z", job: "nightly", run_id: "20261119T020000123Z" },
    base_url: "https://kb.example.com/v1",
    against: null,
    plan,
    counts: countPlan(plan),
    applied,
    differences,
    undo: applied && "output/nightly/runs/20261119T020000123Z.restore/before/runs/20261120T020000123Z",
    journal: applied && "output/nightly/runs/20261119T020000123Z.restore/journal.jsonl",
    warnings: [],
    ...more,
  };
}

/** Something of everything that a plan can hold. */
export const everything: DocumentPlan = documentOf({
  restores: [
    restoreOf(12, {
      evidence: ["updated_by", "history"],
      target: targetOf(112, "Open the valve slowly."),
      texts: { content: "Open the valve slowly, and never above 4.5 bar.", answer: null, keywords: ["valve", "bar"] },
    }),
    restoreOf(40, { texts: { content: "Ask for Ms Ito.", answer: "She knows.", keywords: null }, disable: true }),
    restoreOf(21, { evidence: ["disabled_by"], target: targetOf(121, "Paragraph 21."), texts: null, disable: true }),
    restoreOf(7, {
      evidence: ["chosen"],
      target: { ...targetOf(107, "Parent."), status: "error" },
      texts: { content: "Parent, repaired.", answer: null, keywords: null },
      children: [
        {
          child_id: idOf(71),
          position: 1,
          evidence: ["customized"],
          content: "Child by hand.",
          twin: { id: idOf(72), content: "Child." },
        },
        { child_id: idOf(73), position: 2, evidence: ["customized"], content: "Another child.", twin: null },
      ],
    }),
  ],
  listed: [
    listedOf(90),
    listedOf(91, {
      why: "conflict",
      reason: "the chunk says something else than before the edit",
      now: "Changed by others.",
      choice: "replace",
    }),
    listedOf(92, {
      level: "child_chunk",
      segment_id: idOf(7),
      why: "no place",
      reason: "its chunk is gone",
      choice: null,
    }),
  ],
  losses: [{ level: "chunk", id: idOf(12), position: 12, part: "attachments", reason: "one of them is gone" }],
  present: 3,
});
