import type { Document } from "../../knowledge.js";
import { Refusal } from "../../refusal.js";
import { accounts } from "../../sample/stable-id.js";

const statusActions = ["enable", "disable", "archive", "un_archive"] as const;
export type StatusAction = (typeof statusActions)[number];

/** The action of a path. Throws a 400 for any other word. */
export function checkAction(word: string): StatusAction {
  const action = statusActions.find((each) => each === word);
  if (action) return action;
  throw new Refusal(400, "invalid_action", `Invalid action: ${word}.`);
}

/** The document after an action; one that is so already stays as it is. Throws a 400 for one that is not indexed. */
export function statusAfter(action: StatusAction, row: Document, time: number): Document {
  if (row.indexing_status !== "completed") {
    throw new Refusal(400, "invalid_action", `Document: ${row.name} is not completed.`);
  }
  const enabled = action === "enable" || action === "disable" ? action === "enable" : row.enabled === true;
  const archived = action === "archive" || action === "un_archive" ? action === "archive" : row.archived === true;
  if (enabled === row.enabled && archived === row.archived) return row;
  const switched =
    enabled === row.enabled
      ? {}
      : { enabled, disabled_at: enabled ? null : time, disabled_by: enabled ? null : accounts.owner };
  const display_status = archived ? "archived" : enabled ? "available" : "disabled";
  return { ...row, ...switched, archived, display_status };
}
