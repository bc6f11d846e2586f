import { diffArrays } from "diff";
import { groupRows } from "../../restore/group-rows.js";

/** A list and its copy, brought together: every row of both is in one of the members, once. */
export interface Alignment<T> {
  /** A row and its counterpart in the copy, in the order of the list. */
  readonly pairs: readonly AlignedPair<T>[];
  /** Rows without a counterpart. */
  readonly missing: readonly T[];
  /** Rows of the copy that stand for nothing in the list. */
  readonly extra: readonly T[];
}

/** `changed`: the two stand at the same place and say different things. `moved`: they say the same at different places. */
export interface AlignedPair<T> {
  readonly old: T;
  readonly live: T;
  readonly kind: "same" | "changed" | "moved";
}

/** Rows that may be missing or new in all, which bounds the time. Lists that differ in more are aligned place by place. */
const mostEdits = 2_000;

/** Aligns a list with its copy by the texts that `textOf` gives. A missing row moves no other, and texts may repeat. */
export function alignRows<T>(old: readonly T[], live: readonly T[], textOf: (row: T) => string): Alignment<T> {
  const texts = { old: old.map(textOf), live: live.map(textOf) };
  const stretches = cutStretches(old, live, commonLengths(texts) ?? lengthsByPlace(texts));
  const moved = pairMoved(stretches, textOf);
  const taken = new Set(moved.values());
  const pairs: AlignedPair<T>[] = [];
  const missing: T[] = [];
  const extra: T[] = [];
  for (const { isSame, ...rows } of stretches) {
    const free = rows.live.filter((row) => !taken.has(row));
    let next = 0;
    for (const row of rows.old) {
      const counterpart = moved.get(row) ?? free[next++];
      const kind = isSame ? "same" : moved.has(row) ? "moved" : "changed";
      if (counterpart === undefined) missing.push(row);
      else pairs.push({ old: row, live: counterpart, kind });
    }
    extra.push(...free.slice(next));
  }
  return { pairs, missing, extra };
}

/** How many rows of each list come next that are the same one by one, or that differ. */
interface Lengths {
  readonly isSame: boolean;
  readonly old: number;
  readonly live: number;
}

interface Texts {
  readonly old: string[];
  readonly live: string[];
}

/** The fewest rows that differ, with as many as can be the same in order; undefined where too many differ. */
function commonLengths({ old, live }: Texts): readonly Lengths[] | undefined {
  const parts = diffArrays(old, live, { maxEditLength: mostEdits });
  return parts?.map(({ added, removed, count }) => ({
    isSame: !added && !removed,
    old: added ? 0 : count,
    live: removed ? 0 : count,
  }));
}

function lengthsByPlace({ old, live }: Texts): readonly Lengths[] {
  const both = Math.min(old.length, live.length);
  const places = Array.from({ length: both }, (_, at) => ({ isSame: old[at] === live[at], old: 1, live: 1 }));
  return [...places, { isSame: false, old: old.length - both, live: live.length - both }];
}

/** A part of both lists: the same row by row, or with nothing in common that stands in order. */
interface Stretch<T> {
  readonly isSame: boolean;
  readonly old: readonly T[];
  readonly live: readonly T[];
}

/** Cuts both lists by the lengths; neighbours that differ make one stretch. */
function cutStretches<T>(old: readonly T[], live: readonly T[], lengths: readonly Lengths[]): readonly Stretch<T>[] {
  const ends: { isSame: boolean; old: number; live: number }[] = [];
  let [oldEnd, liveEnd] = [0, 0];
  for (const { isSame, ...rows } of lengths) {
    oldEnd += rows.old;
    liveEnd += rows.live;
    if (ends.at(-1)?.isSame === isSame) ends.pop();
    ends.push({ isSame, old: oldEnd, live: liveEnd });
  }
  return ends.map((end, at) => ({
    isSame: end.isSame,
    old: old.slice(ends[at - 1]?.old ?? 0, end.old),
    live: live.slice(ends[at - 1]?.live ?? 0, end.live),
  }));
}

/** Pairs rows that say the same in different stretches: the k-th of a text with the k-th. */
function pairMoved<T>(stretches: readonly Stretch<T>[], textOf: (row: T) => string): ReadonlyMap<T, T> {
  const differing = stretches.filter(({ isSame }) => !isSame);
  const lastFirst = differing.flatMap(({ live }) => live).reverse();
  const byText = groupRows(lastFirst, textOf);
  const moved = new Map<T, T>();
  for (const row of differing.flatMap(({ old }) => old)) {
    const counterpart = byText.get(textOf(row))?.pop();
    if (counterpart !== undefined) moved.set(row, counterpart);
  }
  return moved;
}
