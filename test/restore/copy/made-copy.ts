import type { DumpDifference } from "../../../src/compare/proof/prove.js";
import { countCopy, type DatasetPlan, type DocumentPlan, type Loss } from "../../../src/restore/copy/copy-plan.js";
import { type Copied, type CopiedDocument, type CopyResult, statusOf } from "../../../src/restore/copy/copy-result.js";
import { idOf } from "../lost/made-result.js";

export const handbook = "be707760-4d1d-4f33-b3ad-f9bace31e975";
export const folder = "output/nightly/runs/20261119T020000123Z";

/** A document of the handbook; its id and name contain the number. */
export function documentPlanOf(number: number, more: Partial<DocumentPlan> = {}): DocumentPlan {
  return {
    dataset_id: handbook,
    document_id: idOf(number),
    dataset_key: handbook,
    document_name: `Manual ${number}.md`,
    doc_form: "text_model",
    doc_language: "English",
    indexing_technique: "high_quality",
    process_rule: { mode: "automatic" },
    refused: null,
    earlier: null,
    chunks: 12,
    disabled: 0,
    children: 0,
    characters: 3_456,
    metadata: [],
    enabled: true,
    archived: false,
    attachments: [],
    attached: 0,
    losses: [],
    ...more,
  };
}

export function datasetPlanOf(documents: readonly DocumentPlan[], more: Partial<DatasetPlan> = {}): DatasetPlan {
  return {
    key: handbook,
    dataset_id: handbook,
    dataset_name: "Handbook",
    target: { kind: "new", name: "Handbook" },
    settings: {
      description: "All that a new colleague has to know.",
      indexing_technique: "high_quality",
      permission: "only_me",
      embedding_model: "text-embedding-3-small",
      embedding_model_provider: "openai",
      retrieval_model: { search_method: "semantic_search" },
      summary_index_setting: null,
    },
    fields: [],
    built_in_fields: false,
    tags: [],
    equipping: 0,
    losses: [],
    documents,
    ...more,
  };
}

/** The state that an earlier process left for a document. */
export function earlierOf(state: "begun" | "restored") {
  return { target_id: idOf(500), state };
}

export function lossOf(part: Loss["part"], rows: number, reason: string): Loss {
  return { part, rows, reason };
}

export function copiedOf(number: number, more: Partial<CopiedDocument> = {}): CopiedDocument {
  return {
    dataset_id: handbook,
    document_id: idOf(number),
    document_name: `Manual ${number}.md`,
    outcome: "restored",
    target_dataset_id: idOf(600),
    target_id: idOf(number + 100),
    failed: [],
    reason: null,
    ...more,
  };
}

export function appliedOf(documents: readonly CopiedDocument[], more: Partial<Copied> = {}): Copied {
  return { documents, problems: [], writes: 7, ...more };
}

export function differenceOf(number: number, more: Partial<DumpDifference> = {}): DumpDifference {
  return { level: "chunk", document_id: idOf(1), id: idOf(number), position: number, reason: "is missing", ...more };
}

/** A result for these datasets, with matching counts and status. */
export function copyOf(datasets: readonly DatasetPlan[], more: Partial<CopyResult> = {}): CopyResult {
  const { applied = null, differences = null } = more;
  const plan = more.plan ?? { datasets };
  return {
    status: statusOf({ plan, applied, differences }),
    run: { folder, job: "nightly", run_id: "20261119T020000123Z" },
    base_url: "https://new.example.com/v1",
    plan,
    counts: countCopy(plan),
    applied,
    differences,
    proof: differences && `${folder}.restore/to/new.example.com/after/runs/20261120T020000123Z`,
    journal: applied && `${folder}.restore/to/new.example.com/journal.jsonl`,
    warnings: [],
    ...more,
  };
}

/** A plan that covers every case. */
export const everyDataset: DatasetPlan = datasetPlanOf(
  [
    documentPlanOf(1, { chunks: 1_234, disabled: 3, characters: 900_123 }),
    documentPlanOf(2, { doc_form: "hierarchical_model", children: 4_000 }),
    documentPlanOf(3, { doc_form: "qa_model", losses: [lossOf("summaries", 2, "no request writes them")] }),
    documentPlanOf(4, { earlier: earlierOf("begun") }),
    documentPlanOf(5, { earlier: earlierOf("restored") }),
    documentPlanOf(7, { refused: "its dump is partial: read it again first" }),
    documentPlanOf(8, {
      losses: [lossOf("summaries", 3, "no request writes them"), lossOf("source", 1, "it was a web page")],
    }),
  ],
  {
    target: { kind: "new", name: "Handbook (2)" },
    fields: [
      { name: "author", type: "string" },
      { name: "year", type: "number" },
    ],
    built_in_fields: true,
    tags: ["manuals", "internal"],
    equipping: 6,
    losses: [lossOf("settings", 1, "the permission is only_me, as its members are not there")],
  },
);
