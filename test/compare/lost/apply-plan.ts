import type { ChildRow, ChunkRow, DocumentRows } from "../../../src/compare/document-rows.js";
import type { ChunkRestore, DocumentPlan } from "../../../src/compare/lost/restore-plan.js";

/** The target after a plan was carried out, by the plainest reading of it: what is added comes last. */
export function applyPlan(target: DocumentRows, { restores }: DocumentPlan): DocumentRows {
  return restores.reduce(applyRestore, target);
}

function applyRestore(
  target: DocumentRows,
  { target: home, texts, disable, children }: ChunkRestore,
  at: number,
): DocumentRows {
  const id = home?.id ?? `added${at}`;
  const position = nextPosition(target.chunks);
  const fresh: ChunkRow = {
    ...{ id, document_id: target.document_id, position, content: "", answer: null, keywords: [], enabled: true },
    ...{
      status: "completed",
      updated_by: null,
      disabled_by: null,
      created_at: 9_000,
      attachment_ids: [],
      summary: null,
    },
  };
  const chunks = home ? target.chunks : [...target.chunks, fresh];
  const written = chunks.map((chunk) => {
    if (chunk.id !== id) return chunk;
    const { content, answer, keywords } = texts ?? chunk;
    return { ...chunk, content, answer, keywords: keywords ?? chunk.keywords, enabled: chunk.enabled && !disable };
  });
  const kept = target.children.map((child): ChildRow => {
    const twin = children.find((each) => each.twin?.id === child.id);
    return twin ? { ...child, content: twin.content, type: "customized" } : child;
  });
  const added = children
    .filter(({ twin }) => twin === null)
    .map(
      ({ content }, nth): ChildRow => ({
        id: `${id}k${nth}`,
        segment_id: id,
        position: 100 + nth,
        content,
        type: "customized",
        created_at: null,
      }),
    );
  return { ...target, chunks: written, children: [...kept, ...added] };
}

const nextPosition = (chunks: readonly ChunkRow[]) => Math.max(0, ...chunks.map(({ position }) => position ?? 0)) + 1;
