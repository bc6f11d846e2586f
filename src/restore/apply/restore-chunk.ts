import type { AppliedRow, RowOutcome } from "../applied.js";
import type { ChildRestore, ChunkRestore } from "../restore-plan.js";
import type { DocumentWork, Landed, Landing } from "./document-work.js";
import { restoreChild } from "./restore-child.js";
import { checkParent, disableChunk, restoreTexts } from "./restore-texts.js";
import type { Waiting } from "./take-turns.js";

const outcomes: Readonly<Record<Landed["kind"], RowOutcome>> = {
  done: "written",
  there: "there",
  changed: "changed meanwhile",
  failed: "failed",
  busy: "failed",
};

/** Brings back one chunk: its texts, then its children, and last that it is disabled. Gives a row for each. */
export async function* restoreChunk(work: DocumentWork, restore: ChunkRestore): Waiting<readonly AppliedRow[]> {
  const { documentId: document_id } = work.place;
  const texts = yield* textsOf(work, restore);
  const children: AppliedRow[] = [];
  for (const child of restore.children) {
    const landed = isGood(texts) ? yield* restoreChild(work, texts.id, child) : notBelow(texts);
    children.push({ document_id, level: "child_chunk", ...nameOf(child), ...resultOf(landed) });
  }
  const end = restore.disable && isGood(texts) ? yield* disabling(work, restore, texts.id) : undefined;
  if (restore.texts === null && !restore.disable) return children;
  const result = end ? resultOfBoth(restore.texts === null ? undefined : texts, end) : resultOf(texts);
  const { chunk_id: id, position } = restore;
  return [{ document_id, level: "chunk", id, position, ...result }, ...children];
}

async function* textsOf(work: DocumentWork, restore: ChunkRestore): Landing {
  const { texts, target, children } = restore;
  if (texts) return yield* restoreTexts(work, restore, texts);
  if (!target) return { kind: "failed", id: null, reason: "the plan names no chunk of the target" };
  return children.length > 0 ? yield* checkParent(work, target) : { kind: "there", id: target.id };
}

async function* disabling(work: DocumentWork, { chunk_id, texts, target }: ChunkRestore, id: string): Landing {
  const said = texts ?? target;
  return said ? yield* disableChunk(work, chunk_id, id, said) : { kind: "there", id };
}

function isGood(landed: Landed): landed is Extract<Landed, { readonly kind: "done" | "there" }> {
  return landed.kind === "done" || landed.kind === "there";
}

function notBelow(parent: Landed): Landed {
  const reason = "reason" in parent ? parent.reason : "";
  return { kind: parent.kind === "changed" ? "changed" : "failed", id: null, reason: `its chunk: ${reason}` };
}

function nameOf({ child_id: id, position }: ChildRestore) {
  return { id, position };
}

type Result = Pick<AppliedRow, "outcome" | "target_id" | "reason">;

function resultOf(landed: Landed): Result {
  const reason = "reason" in landed ? landed.reason : null;
  return { outcome: outcomes[landed.kind], target_id: landed.id, reason };
}

/** A chunk whose texts stand and that is not disabled is still enabled, whatever the reason. */
function resultOfBoth(texts: Landed | undefined, end: Landed): Result {
  if (isGood(end)) return resultOf(texts?.kind === "done" ? texts : end);
  if (texts === undefined && end.kind === "changed") return resultOf(end);
  return { ...resultOf(end), outcome: "still enabled" };
}
