import type { WordPart } from "../../lost-facts.js";
import { foreignText } from "../foreign.js";
import { type Html, type HtmlValue, html } from "../html.js";

/** Characters of one part that are shown; the facts have cut it before. */
const longestPart = 4_100;

/** Characters from which on words scroll in a box of their own, which takes the focus, so that a keyboard scrolls it, too. */
const longestText = 800;

/** Words that were lost, struck out, beside those that stand there now and those that stayed; nothing where there are none. */
export function renderWords(parts: readonly WordPart[]): HtmlValue {
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
