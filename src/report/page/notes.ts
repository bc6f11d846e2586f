import { countText } from "../../amounts.js";
import { foreign, type Html, html } from "./html.js";

/** Sentences that a list shows, and characters of each. */
const [mostNotes, longestNote] = [20, 400];

/** The first sentences as a list, and how many more there are; only how many where there is no text to show. */
export function renderNotes(notes: readonly string[], count: number, noun: string): Html {
  const shown = notes.slice(0, mostNotes);
  if (shown.length === 0) return html`<p>${countText(count, noun)}, not shown in a report without content.</p>`;
  const left = count - shown.length;
  return html`<ul class="notes">
${shown.map((note) => html`<li>${foreign(note, longestNote)}</li>\n`)}</ul>
${left > 0 && html`<p class="rest">${countText(left, `more ${noun}`)} not shown.</p>`}`;
}
