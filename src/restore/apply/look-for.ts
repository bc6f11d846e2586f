import type { ApplyOptions } from "./apply-options.js";
import { type FoundRow, findWrite } from "./find-write.js";
import type { Intent } from "./journal-lines.js";

/** The wait between two looks for a lost answer, in milliseconds: the first, which doubles, and the longest. */
const [firstLook, longestLook] = [1_000, 10_000];

type LookOptions = Pick<Required<ApplyOptions>, "api" | "settle" | "signal" | "now" | "sleep">;

/** Looks for a write until it shows up, or `settle` seconds have passed since `since`; undefined: it was not done. */
export async function lookFor(
  intent: Intent,
  since: number,
  { api, settle, signal, now, sleep }: LookOptions,
): Promise<FoundRow | undefined> {
  for (let wait = firstLook; ; wait = Math.min(longestLook, wait * 2)) {
    const left = since + settle * 1_000 - now(); // before the look: the last one comes after all the time
    const found = await findWrite(api, intent);
    if (found || left <= 0) return found;
    await sleep(Math.min(wait, left), signal);
  }
}
