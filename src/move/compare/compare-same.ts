import type { ChildRow, ChunkRow, DocumentRows } from "../../restore/document-rows.js";
import { isSameSet } from "../../restore/same-set.js";
import { differenceOf, flawsOf, type RowDifference } from "./row-difference.js";

type Rows = Pick<DocumentRows, "chunks" | "children">;

/** Compares a document of a run with the same document as it is now, row by row, by ids. `hasChildren`: the run read child chunks. */
export function compareSame(old: Rows, live: Rows, hasChildren: boolean): readonly RowDifference[] {
  const children = hasChildren ? compareById("child_chunk", old.children, live.children, childFlaws) : [];
  return [...compareById("chunk", old.chunks, live.chunks, chunkFlaws), ...children];
}

type Flaws = readonly (string | false)[];

function compareById<T extends { readonly id: string; readonly position: number | null }>(
  level: "chunk" | "child_chunk",
  old: readonly T[],
  live: readonly T[],
  flaws: (old: T, live: T) => Flaws,
): readonly RowDifference[] {
  const [before, now] = [old, live].map((rows) => new Map(rows.map((row) => [row.id, row])));
  return [
    ...old.flatMap((row) => {
      const same = now?.get(row.id);
      return same ? flawsOf(level, row, flaws(row, same)) : [differenceOf(level, row, "it is gone")];
    }),
    ...live
      .filter(({ id }) => !before?.has(id))
      .map((row) => differenceOf(level, row, "it is new: the run does not have it")),
  ];
}

function chunkFlaws(old: ChunkRow, live: ChunkRow): Flaws {
  return [
    (old.content !== live.content || (old.answer ?? "") !== (live.answer ?? "")) && "text",
    !isSameSet(old.keywords, live.keywords) && "keywords",
    old.enabled !== live.enabled && "state",
    old.position !== live.position && "position",
    old.status !== live.status && "status",
  ];
}

function childFlaws(old: ChildRow, live: ChildRow): Flaws {
  return [
    old.content !== live.content && "text",
    old.position !== live.position && "position",
    old.type !== live.type && "type",
    old.segment_id !== live.segment_id && "chunk",
  ];
}
