import type { Cut } from "../../cut.js";
import type { DocumentChange } from "../../lost-facts.js";
import { documentCell, stateText, type Tone } from "../cells.js";
import { type Html, html } from "../html.js";
import { numberColumn, renderTable, tableBytes } from "../table.js";

/** The documents that differ between the two runs. */
export function renderLostDocuments(documents: Cut<DocumentChange>): Html {
  const table = renderTable<DocumentChange>(
    [
      { title: "Document", cell: documentCell },
      { title: "State", cell: (row) => stateText(toneOf(row), stateOf(row)) },
      numberColumn("Lost", ({ lost }) => lost),
      numberColumn("By hand", ({ lost_by_hand }) => lost_by_hand),
      numberColumn("Removed", ({ removed }) => removed),
      numberColumn("Changed", ({ changed }) => changed),
      numberColumn("Added", ({ added }) => added),
      numberColumn("Moved", ({ moved }) => moved),
    ],
    documents,
    { caption: "Documents that changed since the older run", bytes: tableBytes },
  );
  return html`<h3>Documents</h3>
<p>Chunks and child chunks together. Lost rows are removed ones, edits that were undone, and chunks that were disabled and are enabled again.</p>
${table}`;
}

const stateWords: Readonly<Record<DocumentChange["state"], string>> = {
  same: "the same",
  different: "changed",
  removed: "not in the newer run",
  added: "new",
  not_compared: "not compared",
};

function stateOf({ state, reindexed }: DocumentChange): string {
  return reindexed ? "indexed anew" : stateWords[state];
}

function toneOf({ state, lost_by_hand, lost }: DocumentChange): Tone {
  if (lost_by_hand > 0) return "bad";
  if (lost > 0 || state === "removed" || state === "not_compared") return "warn";
  return "quiet";
}
