import type { ChildRow } from "../../../src/compare/document-rows.js";
import type { ChunkRestore, DocumentPlan } from "../../../src/compare/lost/restore-plan.js";
import { child, chunk, type MadeDocument } from "./rows.js";

/** Applies a plan to the target in the simplest way; added chunks go to the end. */
export function applyPlan(target: MadeDocument, plan: DocumentPlan | undefined): MadeDocument {
  return (plan?.restores ?? []).reduce(applyRestore, target);
}

function applyRestore(
  target: MadeDocument,
  { target: home, texts, disable, children }: ChunkRestore,
  at: number,
): MadeDocument {
  const id = home?.id ?? `added${at}`;
  const position = Math.max(0, ...target.chunks.map((each) => each.position ?? 0)) + 1;
  const fresh = chunk(id, "", { position, keywords: [], created_at: 9_000 });
  const chunks = home ? target.chunks : [...target.chunks, fresh];
  const written = chunks.map((each) => {
    if (each.id !== id) return each;
    const { content, answer, keywords } = texts ?? each;
    return { ...each, content, answer, keywords: keywords ?? each.keywords, enabled: each.enabled && !disable };
  });
  const kept = target.children.map((kid): ChildRow => {
    const twin = children.find((each) => each.twin?.id === kid.id);
    return twin ? { ...kid, content: twin.content, type: "customized" } : kid;
  });
  const added = children
    .filter(({ twin }) => twin === null)
    .map(({ content }, nth) => ({ ...child(id, `${id}k${nth}`, content, "customized"), position: 100 + nth }));
  return { ...target, chunks: written, children: [...kept, ...added] };
}
