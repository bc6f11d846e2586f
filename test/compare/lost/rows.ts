import type { ChildRow, ChunkRow, DocumentId } from "../../../src/compare/document-rows.js";
import type { DocumentPlan } from "../../../src/compare/lost/restore-plan.js";

/** A chunk as the indexer creates it; the number in its id is its position. */
export function chunk(id: string, content: string, more: Partial<ChunkRow> = {}): ChunkRow {
  return {
    id,
    document_id: "doc",
    position: Number(id.replace(/\D/g, "")),
    content,
    answer: null,
    keywords: null,
    enabled: true,
    status: "completed",
    created_by: null,
    updated_by: null,
    disabled_by: null,
    created_at: 1_000,
    updated_at: null,
    disabled_at: null,
    attachment_ids: [],
    summary: null,
    ...more,
  };
}

export function child(
  segment_id: string,
  id: string,
  content: string,
  type = "automatic",
  created_at = 1_000,
): ChildRow {
  return { id, segment_id, position: Number(id.replace(/\D/g, "")), content, type, created_at, updated_at: null };
}

/** The rows of one document, in dump order. */
export interface DocumentRows extends DocumentId {
  readonly doc_form: string | null;
  readonly chunks: readonly ChunkRow[];
  readonly children: readonly ChildRow[];
}

/** A document in a dump, with facts from its details. */
export interface MadeDocument extends DocumentRows {
  /** Identifies the uploaded file and the process rule; null without details. */
  readonly source: string | null;
  /** When its indexing completed, in Unix seconds. */
  readonly indexed_at: number | null;
  readonly enabled: boolean;
  readonly archived: boolean;
}

export function document(
  chunks: readonly ChunkRow[],
  children: readonly ChildRow[] = [],
  doc_form: string | null = "text_model",
  details: Partial<MadeDocument> = {},
): MadeDocument {
  const made = { source: null, indexed_at: null, enabled: true, archived: false, ...details };
  return { dataset_id: "d", document_id: "doc", doc_form, ...made, chunks, children };
}

/** Describes a plan: one line for each action or finding, none if there is no plan for the document. */
export function described(plan: DocumentPlan | undefined): readonly string[] {
  if (!plan) return [];
  const automatic = plan.lost - plan.manual_edits;
  const proved = (evidence: readonly string[]) => (evidence.length > 0 ? ` [${evidence.join(" ")}]` : "");
  const restores = plan.restores.flatMap(({ chunk_id, evidence, target, texts, disable, children }) => {
    const home = target?.id ?? "new";
    const keywords = texts?.keywords ? ` #${texts.keywords.join(" #")}` : "";
    const answer = texts?.answer == null ? "" : ` → ${texts.answer}`;
    return [
      ...(texts
        ? [
            `${target ? `${chunk_id} over ${home}` : `add ${chunk_id}`}: ${texts.content}${answer}${keywords}${proved(evidence)}`,
          ]
        : []),
      ...children.map(
        (each) =>
          `child ${each.child_id} ${each.twin ? `over ${each.twin.id}` : `below ${home}`}: ${each.content}${proved(each.evidence)}`,
      ),
      ...(disable ? [`disable ${home}${texts ? "" : ` for ${chunk_id}${proved(evidence)}`}`] : []),
    ];
  });
  return [
    ...(plan.refused === null ? [] : [`refused: ${plan.refused}`]),
    ...restores,
    ...plan.listed.map(
      ({ id, why, now, choice }) => `${why}: ${id}${now === null ? "" : `, now "${now}"`}, ${choice ?? "no choice"}`,
    ),
    ...plan.losses.map(({ id, part }) => `loses ${part} of ${id}`),
    ...(automatic > 0 ? [`${automatic} lost`] : []),
    ...(plan.present > 0 ? [`${plan.present} present`] : []),
  ];
}
