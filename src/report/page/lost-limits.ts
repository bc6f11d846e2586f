import { countText } from "../../amounts.js";
import type { LostFacts } from "../lost-facts.js";

/** The documents of which the comparison says nothing; null where it says all. */
export function limitsOf({ not_compared, gone }: Pick<LostFacts, "not_compared" | "gone">): string | null {
  const limits = [
    not_compared > 0 &&
      ` ${countText(not_compared, "document")} could not be compared: what was lost there is not known.`,
    gone > 0 && ` ${countText(gone, "document")} of the older run ${gone === 1 ? "is" : "are"} not in this one at all.`,
  ].filter((text) => text !== false);
  return limits.length > 0 ? limits.join("") : null;
}
