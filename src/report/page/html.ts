import { countText } from "../../amounts.js";

/** Safe markup, which the page includes unescaped. Only this module can create it, so text from a service never becomes markup. */
export class Html {
  readonly #markup: string;

  constructor(markup: string, key: typeof own) {
    if (key !== own) throw new TypeError("markup comes from html`…` alone");
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

const own = Symbol("html");

/** A value in a template. Markup is kept, text and numbers are escaped, lists are joined, null and false are empty. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** Creates markup from a template and escapes its values. Put attribute values in double quotes. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = template.map((piece, at) => (at === 0 ? piece : markupOf(values[at - 1]) + piece));
  return new Html(parts.join(""), own);
}

/** Treats a text as markup. Only for our own files, such as the style sheet, never for text from outside. */
export function trusted(text: string): Html {
  return new Html(text, own);
}

function markupOf(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map(markupOf).join("");
  return escapeHtml(String(value));
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/**
 * Escapes a text for HTML. Characters that HTML forbids, and lone surrogates, become U+FFFD; a parser would replace or drop them.
 */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => escapes[character] ?? "")
    .replace(forbidden, "\ufffd");
}

/** Control characters other than tab, line feed and carriage return, and Unicode noncharacters. */
const forbidden = /(?![\t\n\r])\p{Cc}|[\ufdd0-\ufdef\ufffe\uffff]/gu;

/** Maximum characters of foreign text per cell. */
const cellLength = 160;

/**
 * Renders a text from the service with its own writing direction: the first characters, and how many were left out. Null is a dash,
 * and a blank text gets a word that says so.
 */
export function foreign(text: unknown, longest = cellLength): HtmlValue {
  if (isNull(text)) return none;
  const { shown, rest } = beginningOf(String(text), longest);
  if (isBlank(shown)) return html`<span class="none">blank</span>`;
  if (rest === "") return html`<bdi>${shown}</bdi>`;
  return html`<bdi>${shown}…</bdi> <span class="left-out">+${countText(Array.from(rest).length, "character")}</span>`;
}

/** A dash for an unknown value. */
const none: Html = html`<span class="none">–</span>`;

/** Like `foreign`, for an attribute or a heading: truncated and harmless plain text, without the count. */
export function foreignText(text: string, longest = cellLength): string {
  const { shown, rest } = beginningOf(text, longest);
  return rest === "" ? shown : `${shown}…`;
}

/**
 * Makes invisible direction marks harmless: marks that embed, override or isolate are spelled out, as in `[U+202E]`; marks for a
 * single position are dropped, because the browser infers the direction from the letters. Keeps at most eight accents on a letter.
 */
export function harmless(text: string): string {
  const written = (mark: string) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`;
  return text
    .replace(/[\u200e\u200f\u061c]/g, "")
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, written)
    .replace(/(\p{M}{8})\p{M}+/gu, "$1");
}

/** Whether a text is invisible: null, or only white space and zero-width characters. */
export function isBlank(text: unknown): boolean {
  return isNull(text) || /^[\s\p{Cf}\u115f\u1160\u3164\uffa0]*$/u.test(String(text));
}

function isNull(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function beginningOf(text: string, longest: number): { readonly shown: string; readonly rest: string } {
  // This part of the text has enough characters, because each has at most two UTF-16 units.
  const first = Array.from(text.slice(0, 2 * longest))
    .slice(0, longest)
    .join("");
  return { shown: harmless(first), rest: text.slice(first.length) };
}

/** Renders a whole id, so that you can search for it and copy it. The style sheet shows only its first characters. */
export function idText(id: unknown): HtmlValue {
  if (isBlank(id)) return foreign(id);
  const text = foreignText(String(id), 80);
  return html`<code class="id" dir="auto" title="${text}">${text}</code>`;
}

/** `2026-11-20 02:00`, in UTC; a dash for null or an invalid time. */
export function timeText(milliseconds: number | null): HtmlValue {
  const time = new Date(milliseconds ?? Number.NaN);
  if (Number.isNaN(time.getTime())) return none;
  const iso = time.toISOString();
  return html`<time datetime="${iso}">${iso.replace("T", " ").replace(/:\d\d\.\d+Z$/, "")}</time>`;
}

/** The severity of a state. The style sheet gives each tone a colour and a shape. */
export type Tone = "good" | "warn" | "bad" | "quiet";

/** Renders a state as a word, such as `complete`, with the shape of its tone. */
export function stateText(tone: Tone, word: HtmlValue): Html {
  return html`<span class="state ${tone}">${word}</span>`;
}
