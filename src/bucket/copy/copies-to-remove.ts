import { isRecent } from "./in-use.js";

/** The copy of a run, or of a database. */
export interface Copy {
  readonly path: string;
  readonly bytes: number;
  /** The time of its last use, in milliseconds since 1970. */
  readonly usedAt: number;
}

/**
 * Chooses the copies to remove so that `needed` bytes more fit `most`: those first that were not used for the longest time, and none
 * that is in use. Undefined where that is not enough.
 */
export function copiesToRemove(
  copies: readonly Copy[],
  { needed, most, now }: { readonly needed: number; readonly most: number; readonly now: number },
): readonly Copy[] | undefined {
  let total = needed + copies.reduce((sum, { bytes }) => sum + bytes, 0);
  const chosen: Copy[] = [];
  for (const copy of copies.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (total <= most) break;
    if (isRecent(copy.usedAt, now)) continue;
    chosen.push(copy);
    total -= copy.bytes;
  }
  return total <= most ? chosen : undefined;
}
