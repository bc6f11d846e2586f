import type { DocumentPlan } from "../../restore/copy/copy-plan.js";
import { comes } from "../../restore/copy/copy-result.js";

/** The turn that a document takes: `failed` is left alone, as it failed earlier and nobody asked to try it again. */
export type DocumentState = "comes" | "there" | "failed" | "left out";

/** The state of a planned document. */
export function stateOf(document: DocumentPlan): DocumentState {
  if (document.refused !== null) return "left out";
  if (comes(document)) return "comes";
  return document.earlier?.state === "restored" ? "there" : "failed";
}
