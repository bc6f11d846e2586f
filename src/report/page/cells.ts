import type { NamedDocument } from "../named-document.js";
import { foreign, foreignText, isBlank, none } from "./foreign.js";
import { type Html, type HtmlValue, html } from "./html.js";

/** The name of a document, its dataset beneath, and its id, of which the style shows the beginning. */
export function documentCell({ document_name, document_id, dataset_name, dataset_id }: NamedDocument): Html {
  const id = idText(document_id);
  const dataset = foreignOr(idText(dataset_id), dataset_name, 60);
  if (document_name === null || isBlank(document_name))
    return html`<div class="document">${id}<small>${dataset}</small></div>`;
  return html`<div class="document">${foreign(document_name, 120)}<small>${dataset} ${id}</small></div>`;
}

/** The name of a document in a sentence, or its id where nobody listed a name. */
export function documentName({ document_name, document_id }: NamedDocument): HtmlValue {
  return foreignOr(idText(document_id), document_name, 60);
}

/** A name, or what stands in for it where there is none. */
function foreignOr(other: HtmlValue, name: string | null, longest: number): HtmlValue {
  return name === null || isBlank(name) ? other : foreign(name, longest);
}

/** A whole id, of which the style shows the beginning: searching and copying finds all of it. */
export function idText(id: string): HtmlValue {
  if (isBlank(id)) return foreign(id);
  const text = foreignText(id, 80);
  return html`<code class="id" dir="auto" title="${text}">${text}</code>`;
}

/** `2026-11-20 02:00`, in UTC; a dash for null and for what is no time. */
export function timeText(milliseconds: number | null): HtmlValue {
  if (milliseconds === null || !(Math.abs(milliseconds) <= latest)) return none;
  const iso = new Date(milliseconds).toISOString();
  return html`<time datetime="${iso}">${iso.replace("T", " ").replace(/:\d\d\.\d+Z$/, "")}</time>`;
}

/** The same with seconds: runs may follow each other within a minute. */
export function secondText(milliseconds: number): HtmlValue {
  if (!(Math.abs(milliseconds) <= latest)) return none;
  const iso = new Date(milliseconds).toISOString();
  return html`<time datetime="${iso}">${iso.replace("T", " ").replace(/\.\d+Z$/, "")}</time>`;
}

/** The last moment that a Date can be, in milliseconds. */
const latest = 8.64e15;

/** `5,012`; a dash for null. */
export function numberText(number: number | null): HtmlValue {
  return number === null ? none : number.toLocaleString("en-US");
}

/** `31 %`, rounded so that 0 and 100 stand for none and all alone. */
export function shareText(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return "0 %";
  const percent = (100 * part) / whole;
  if (percent < 1) return "<1 %";
  if (percent > 99 && part < whole) return ">99 %";
  return `${Math.round(percent)} %`;
}

/** How something stands. The style gives each tone a colour and a shape; the word says it without them. */
export type Tone = "good" | "warn" | "bad" | "quiet";

/** A state in a word, such as `complete`, with the shape of its tone. */
export function stateText(tone: Tone, word: HtmlValue): Html {
  return html`<span class="state ${tone}">${word}</span>`;
}

/** A command to copy. */
export function commandBlock(command: string): Html {
  return html`<div class="command"><pre><code>${command}</code></pre></div>`;
}
