import type { LostCard, LostFacts } from "../../lost-facts.js";
import { commandBlock, idText, stateText, timeText } from "../cells.js";
import { renderFitting, renderRest } from "../fitting.js";
import { foreign } from "../foreign.js";
import { type Html, type HtmlValue, html } from "../html.js";
import { renderWords } from "./lost-words.js";

/** Bytes that all cards may take, so that the page stays below 2 MB. */
const cardsBytes = 420_000;

/** A card for each of the first lost rows: its words, who worked on it, and how it comes back. */
export function renderLostCards({ cards, lost, query }: LostFacts): HtmlValue {
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
<p>${stateText(card.hand === null ? "warn" : "bad", lossWords[card.loss])} ${signText(card)} <small>${idText(id)}</small></p>
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

const handWords: Readonly<Record<NonNullable<LostCard["hand"]>, string>> = {
  edited: "edited by hand",
  added: "added by hand",
  disabled: "disabled by hand",
  customized: "made or edited by hand",
};

/** The sign of a hand, with who made it and when. */
function signText({ hand, level, by, at }: LostCard): HtmlValue {
  if (hand === null) return "no sign of a person's work";
  const words =
    level === "chunk" && hand === "customized" ? "with child chunks made or edited by hand" : handWords[hand];
  return [words, by !== null && html` by ${idText(by)}`, at !== null && html` on ${timeText(at)} UTC`];
}

/** The command that brings a row back, or why there is none. */
function renderWayBack({ command, has_evidence, reason }: LostCard, isOneDocument: boolean): HtmlValue {
  if (has_evidence)
    return html`<p>The commands above bring it back.</p>
${command !== null && !isOneDocument && html`<details><summary>Bring back this document alone</summary>${commandBlock(command)}</details>`}`;
  const why = reason !== null && html`<p>Left to you: ${foreign(reason, 400)}</p>`;
  if (command === null) return why;
  return html`${why}
<details><summary>Bring it back nevertheless</summary>${commandBlock(command)}</details>`;
}
