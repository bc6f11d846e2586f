import type { DocumentPlan } from "../../restore/restore-plan.js";
import type { LostRow } from "./lost-row.js";

/** The part that a restore has in mind for a lost row. */
export interface RowOutcome {
  /** Whether it is written by the evidence. */
  readonly isWritten: boolean;
  /** Why it is left alone, as a sentence; null where it is written. */
  readonly reason: string | null;
  /** Whether its owner can have it written by naming it. */
  readonly canBeChosen: boolean;
}

/** The outcome of a row that is left alone, whatever its owner wishes. */
export function leftAlone(reason: string): RowOutcome {
  return { isWritten: false, reason, canBeChosen: false };
}

/** Looks a lost row up in the plan of its document. Without `content`, no reason quotes a text of the service. */
export function outcomeIn(plan: DocumentPlan, row: LostRow, content: boolean): RowOutcome {
  if (plan.refused !== null) return leftAlone(content ? plan.refused : "Nothing of its document can be restored.");
  if (isWritten(plan, row)) return { isWritten: true, reason: null, canBeChosen: false };
  const listed = plan.listed.find(({ level, id }) => level === row.level && id === row.id);
  if (listed) return { isWritten: false, reason: listed.reason, canBeChosen: listed.choice !== null };
  return leftAlone(row.level === "child_chunk" && row.hand === null ? madeByService : standing);
}

const madeByService = "The service makes such child chunks itself, and nothing proves that a person made this one.";
const standing = "A restore finds its text in the newer run, as a chunk or inside one, and leaves it alone.";

function isWritten({ restores }: DocumentPlan, { level, id }: LostRow): boolean {
  if (level === "child_chunk") return restores.some(({ children }) => children.some(({ child_id }) => child_id === id));
  return restores.some(({ chunk_id, texts, disable }) => chunk_id === id && (texts !== null || disable));
}
