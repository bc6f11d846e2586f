import type { ChildRow, ChunkRow, DocumentProvenance, DocumentRows } from "../../../src/compare/document-rows.js";
import type { DocumentPlan } from "../../../src/compare/lost/restore-plan.js";

/** A chunk as the indexer makes it; its position is the number in its id. */
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
    updated_by: null,
    disabled_by: null,
    created_at: 1_000,
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
  return { id, segment_id, position: Number(id.replace(/\D/g, "")), content, type, created_at };
}

export function document(
  chunks: readonly ChunkRow[],
  children: readonly ChildRow[] = [],
  doc_form: string | null = "text_model",
  provenance: Partial<DocumentProvenance> = {},
): DocumentRows {
  const made = { source: null, indexed_at: null, ...provenance };
  return { dataset_id: "set", document_id: "doc", doc_form, ...made, chunks, children };
}

/** A plan in a line for each thing that it does or tells. */
export function described(plan: DocumentPlan): readonly string[] {
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
    ...(plan.present > 0 ? [`${plan.present} present`] : []),
  ];
}
