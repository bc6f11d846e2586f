import { jsonText } from "../../rows/exact-json.js";
import { cutText } from "../../safe-text.js";
import { differingMembers, isNothing, isSameValue } from "./same-value.js";

/** A sentence if a setting differs. One that the run does not know is not compared. */
export function compareSetting(what: string, old: unknown, live: unknown): readonly string[] {
  return isNothing(old) || isSameValue(old, live) ? [] : [differenceText(what, old, live)];
}

/** `its name is "b" at the service, and "a" in the run` */
export function differenceText(what: string, old: unknown, live: unknown): string {
  return `its ${what} is ${valueText(live)} at the service, and ${valueText(old)} in the run`;
}

/** A sentence if a setting that has members differs, with their names. `onlyKnown`: those that the run knows. */
export function compareMembers(what: string, old: unknown, live: unknown, onlyKnown: boolean): readonly string[] {
  if (isNothing(old)) return [];
  const members = differingMembers(old, live, onlyKnown);
  return members.length > 0 ? [`its ${what} differs in ${members.join(", ")}`] : [];
}

const longestValue = 80;

function valueText(value: unknown): string {
  return isNothing(value) ? "nothing" : cutText(jsonText(value), longestValue);
}
