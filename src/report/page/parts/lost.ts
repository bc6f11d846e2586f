import { countText } from "../../../amounts.js";
import type { LostFacts, RestoreFacts } from "../../lost-facts.js";
import { commandBlock, timeText } from "../cells.js";
import { foreign } from "../foreign.js";
import { type HtmlValue, html } from "../html.js";
import { limitsOf } from "../lost-limits.js";
import type { Section } from "../section.js";
import { renderLostCards } from "./lost-cards.js";
import { renderLostDocuments } from "./lost-documents.js";
import { renderNotes } from "./notes.js";

/** The rows that a re-index took since an older run: the way back, their words, and the documents that changed. */
export function lostSection(facts: LostFacts): Section {
  const { old, lost, restore, warnings, warning_count, documents } = facts;
  return {
    id: "lost",
    title: "Lost by the re-index",
    lead: [leadOf(facts), limitsOf(facts)],
    body: [
      renderRestore(restore, lost),
      html`<p>Compared with the run <code>${old.run_id}</code> of ${foreign(old.job)}, which ended ${timeText(old.finished_at)} UTC.</p>`,
      warning_count > 0 && renderNotes(warnings, warning_count, "warning"),
      lost > 0 && renderLostCards(facts),
      documents.total > 0 && renderLostDocuments(documents),
    ],
  };
}

/** The answer to: what was lost? */
function leadOf({ reindexed, lost, lost_by_hand, restore }: LostFacts): string {
  const back = restore.rows > 0 ? ` kbdump can bring back ${countText(restore.rows, "row")}.` : "";
  if (lost === 0) return `${nothingLost(reindexed)}${restore.rows > 0 ? ` ${keywordsLost(restore)}` : ""}`;
  const hand = lost_by_hand === 0 ? "no row shows a sign of a person's work" : byHandText(lost, lost_by_hand);
  return `The re-index of ${countText(reindexed, "document")} took ${countText(lost, "row")} (chunks and child chunks): ${hand}.${back}`;
}

function nothingLost(reindexed: number): string {
  if (reindexed === 0)
    return "No document that could be compared was indexed anew since the older run: no re-index took a row.";
  return `${countText(reindexed, "document")} ${reindexed === 1 ? "was" : "were"} indexed anew, and no row was lost.`;
}

/** Texts stand as they did: all that is left to bring back are keywords. */
function keywordsLost({ rows }: RestoreFacts): string {
  return `The keywords of ${countText(rows, "row")} were lost: kbdump can bring them back.`;
}

function byHandText(lost: number, lost_by_hand: number): string {
  if (lost === lost_by_hand) return `made, edited or disabled by hand${lost === 1 ? "" : ", all of them"}`;
  return `${lost_by_hand.toLocaleString("en-US")} of them ${lost_by_hand === 1 ? "was" : "were"} made, edited or disabled by hand`;
}

/** The command that plans the restore, or why there is none. */
function renderRestore({ command, apply, reason }: RestoreFacts, lost: number): HtmlValue {
  if (command === null) return lost > 0 && reason !== null && html`<p>${foreign(reason, 600)}</p>`;
  return html`<p>This command shows what comes back, and writes nothing:</p>
${commandBlock(command)}
${
  apply !== null &&
  html`<p>This command brings it back. It reads the documents as they stand first, shows the plan and asks. It needs a key that may write, in the variable <code>KNOWLEDGE_RESTORE_KEY</code>:</p>
${commandBlock(apply)}`
}`;
}
