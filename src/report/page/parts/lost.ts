import { countText } from "../../../amounts.js";
import type { Cut, DocumentChange, LostCard, LostFacts, RestoreFacts, WordPart } from "../../lost-facts.js";
import { foreign, foreignText, type Html, type HtmlValue, html, type Section } from "../html.js";
import {
  commandBlock,
  documentCell,
  idText,
  numberColumn,
  renderFitting,
  renderRest,
  renderTable,
  stateText,
  type Tone,
  tableBytes,
  timeText,
} from "../table.js";

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
  const edit = lost_by_hand === 0 ? "no row shows a sign of a person's work" : manualText(lost, lost_by_hand);
  return `The re-index of ${countText(reindexed, "document")} took ${countText(lost, "row")} (chunks and child chunks): ${edit}.${back}`;
}

function nothingLost(reindexed: number): string {
  if (reindexed === 0)
    return "No document that could be compared was re-indexed since the older run: no re-index took a row.";
  return `${countText(reindexed, "document")} ${reindexed === 1 ? "was" : "were"} re-indexed, and no row was lost.`;
}

/** Texts stand as they did: all that is left to restore are keywords. */
function keywordsLost({ rows }: RestoreFacts): string {
  return `The keywords of ${countText(rows, "row")} were lost: kbdump can bring them back.`;
}

function manualText(lost: number, lost_by_hand: number): string {
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

/** Bytes that all cards may take, so that the page stays below 2 MB. */
const cardsBytes = 420_000;

/** A card for each of the first lost rows: its words, who worked on it, and how it comes back. */
function renderLostCards({ cards, lost, query }: LostFacts): HtmlValue {
  const isOneDocument = new Set(cards.map(({ document_id }) => document_id)).size === 1;
  const shown = renderFitting(cards, (card) => renderCard(card, isOneDocument), cardsBytes);
  return html`<h3>Lost rows</h3>
<p>Words <del>struck out</del> were lost, <ins>underlined</ins> ones stand there now. Rows that show a sign of a person's work come first.</p>
<div class="cards">
${shown}</div>
${renderRest(lost - shown.length, query)}`;
}

/** The command for the document of a card is needed only where there are several documents. */
function renderCard(card: LostCard, isOneDocument: boolean): Html {
  const { document_name, document_id, level, position, id, content, answer } = card;
  const row = level === "chunk" ? "chunk" : "child chunk";
  const place = position === null ? row : `${row} ${position.toLocaleString("en-US")}`;
  return html`<article class="card">
<h4>${document_name === null ? idText(document_id) : foreign(document_name, 120)}, ${place}</h4>
<p>${stateText(card.edit === null ? "warn" : "bad", lossWords[card.loss])} ${evidenceText(card)} <small>${idText(id)}</small></p>
${renderWords(content)}${
  answer.length > 0 &&
  html`<p class="label">Answer:</p>
${renderWords(answer)}`
}${renderWayBack(card, isOneDocument)}
</article>
`;
}

const lossWords: Readonly<Record<LostCard["loss"], string>> = {
  removed: "gone",
  undone: "edit undone",
  enabled: "enabled again",
};

const editWords: Readonly<Record<NonNullable<LostCard["edit"]>, string>> = {
  edited: "edited by hand",
  added: "added by hand",
  disabled: "disabled by hand",
  customized: "made or edited by hand",
};

/** The evidence of a manual edit, with who made it and when. */
function evidenceText({ edit, level, by, at }: LostCard): HtmlValue {
  if (edit === null) return "no sign of a person's work";
  const words =
    level === "chunk" && edit === "customized" ? "with child chunks made or edited by hand" : editWords[edit];
  return [words, by !== null && html` by ${idText(by)}`, at !== null && html` on ${timeText(at)} UTC`];
}

/** The command that restores a row, or why there is none. */
function renderWayBack({ command, has_evidence, reason }: LostCard, isOneDocument: boolean): HtmlValue {
  if (has_evidence)
    return html`<p>The commands above bring it back.</p>
${command !== null && !isOneDocument && html`<details><summary>Bring back this document alone</summary>${commandBlock(command)}</details>`}`;
  const why = reason !== null && html`<p>Left to you: ${foreign(reason, 400)}</p>`;
  if (command === null) return why;
  return html`${why}
<details><summary>Bring it back nevertheless</summary>${commandBlock(command)}</details>`;
}

/** The documents that differ between the two runs. */
function renderLostDocuments(documents: Cut<DocumentChange>): Html {
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
  return reindexed ? "re-indexed" : stateWords[state];
}

function toneOf({ state, lost_by_hand, lost }: DocumentChange): Tone {
  if (lost_by_hand > 0) return "bad";
  if (lost > 0 || state === "removed" || state === "not_compared") return "warn";
  return "quiet";
}

/** Characters of one part that are shown; the facts have cut it before. */
const longestPart = 4_100;

/** Characters from which on words scroll in a box of their own, which takes the focus, so that a keyboard scrolls it, too. */
const longestText = 800;

/** Words that were lost, struck out, beside those that stand there now and those that stayed; nothing where there are none. */
function renderWords(parts: readonly WordPart[]): HtmlValue {
  if (parts.length === 0) return "";
  const isLong = parts.reduce((sum, { text }) => sum + text.length, 0) > longestText;
  const box = isLong && html` tabindex="0" role="region" aria-label="Words of the row"`;
  return html`<div class="words" dir="auto"${box}>${parts.map(renderPart)}</div>\n`;
}

function renderPart({ kind, text, cut }: WordPart): Html {
  const shown = foreignText(text, longestPart);
  const left =
    cut > 0 && html` <span class="left-out" dir="ltr">(${cut.toLocaleString("en-US")} characters left out)</span> `;
  if (kind === "removed") return html`<del>${spoken("lost:")}${shown}</del>${left}`;
  if (kind === "added") return html`<ins>${spoken("now:")}${shown}</ins>${left}`;
  return html`${shown}${left}`;
}

/** A word for those who hear the page. Its direction is its own, so that it does not decide on that of the text. */
function spoken(word: string): Html {
  return html`<span class="hidden" dir="ltr">${word} </span>`;
}

/** The documents of which the comparison says nothing; null where it says all. */
export function limitsOf({ not_compared, gone }: Pick<LostFacts, "not_compared" | "gone">): string | null {
  const limits = [
    not_compared > 0 &&
      ` ${countText(not_compared, "document")} could not be compared: what was lost there is not known.`,
    gone > 0 && ` ${countText(gone, "document")} of the older run ${gone === 1 ? "is" : "are"} not in this one at all.`,
  ].filter((text) => text !== false);
  return limits.length > 0 ? limits.join("") : null;
}

/** Sentences that a list shows, and characters of each. */
const mostNotes = 20;
const longestNote = 400;

/** The first sentences as a list, and how many more there are. */
export function renderNotes(notes: readonly string[], count: number, noun: string): Html {
  const shown = notes.slice(0, mostNotes);
  if (shown.length === 0) return html`<p>${countText(count, noun)}, not shown in a report without content.</p>`;
  const left = count - shown.length;
  return html`<ul class="notes">
${shown.map((note) => html`<li>${foreign(note, longestNote)}</li>\n`)}</ul>
${left > 0 && html`<p class="rest">${countText(left, `more ${noun}`)} not shown.</p>`}`;
}
