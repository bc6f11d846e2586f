import { countText, numberText } from "../amounts.js";
import type { ChildListSums } from "../segments/document-result.js";

/** Renders how many child lists a run read and skipped, on one line; undefined if there was none to read. */
export function renderChildLists(childChunks: unknown, sums: ChildListSums): string | undefined {
  const { asked, embedded, skipped } = sums;
  if (asked + embedded + skipped === 0) return undefined;
  return childChunks === "auto" ? renderAuto(sums) : renderAll(sums);
}

function renderAuto({ asked, embedded, skipped }: ChildListSums): string {
  const parts = [
    `${countText(asked, "child list")} read`,
    embedded > 0 && `embedded children used for ${countText(embedded, "chunk")}`,
    skipped > 0 && `${countText(skipped, "list")} skipped`,
  ];
  return `${parts.filter(Boolean).join(", ")}; child_lists in manifest.json says why`;
}

/** Every list takes a request at the least, so that as many requests are saved as lists, or more. */
function renderAll({ asked, empty, auto_saves: saves, auto_misses: misses }: ChildListSums): string {
  const were = `${numberText(empty)} of ${countText(asked, "child list")} ${empty === 1 ? "was" : "were"} empty`;
  if (saves === 0) return `${were}; child_chunks: auto would have read all of them, too`;
  const missed = misses > 0 ? `, and missed ${countText(misses, "child chunk")}` : "";
  return `${were}; child_chunks: auto would have saved at least ${countText(saves, "request")}${missed}`;
}
