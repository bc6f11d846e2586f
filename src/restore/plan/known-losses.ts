import { countOf } from "../../words.js";
import type { ChunkRow } from "../document-rows.js";
import type { KnownLoss } from "../restore-plan.js";

/** The parts of a chunk that do not come back with its text. `target` takes the text, or a new chunk does. */
export function lossesOf(
  old: ChunkRow,
  target: ChunkRow | null,
  keywordsBefore: readonly string[] | undefined,
): readonly KnownLoss[] {
  const losses: KnownLoss[] = [];
  if (keywordsBefore && !old.keywords?.length && target?.keywords?.length) losses.push(emptiedKeywords(old));
  const unbound = old.attachment_ids.filter((id) => !target?.attachment_ids.includes(id)).length;
  if (unbound > 0)
    losses.push(lossOf(old, "attachments", `${countOf(unbound, "attachment")} cannot be bound to it again.`));
  if (old.summary !== null && old.summary !== target?.summary)
    losses.push(lossOf(old, "summary", "Its summary does not come back."));
  return losses;
}

/** The loss of keywords that somebody had removed, all of them. */
export function emptiedKeywords(old: ChunkRow): KnownLoss {
  return lossOf(old, "keywords", "A person removed all of its keywords, and no request can do that again.");
}

function lossOf({ id, position }: ChunkRow, part: KnownLoss["part"], reason: string): KnownLoss {
  return { level: "chunk", id, position, part, reason };
}
