import { countText } from "../../amounts.js";

/** Markup that may stand in the page as it is. Only `html` makes it, so that no text of a service can. */
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

/** A value in a template: markup stays as it is, a text or number is escaped, lists are joined, null and false are nothing. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** Makes markup of a template, whose values are escaped. Attributes with values stand in double quotes. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = template.map((piece, at) => (at === 0 ? piece : markupOf(values[at - 1]) + piece));
  return new Html(parts.join(""), own);
}

/** A text of our own files, such as the style, which is markup already. Never a text that came from outside. */
export function trusted(text: string): Html {
  return new Html(text, own);
}

function markupOf(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map(markupOf).join("");
  return escapeHtml(String(value));
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * A text as HTML has it. Characters that no HTML document may hold, and half characters, become U+FFFD: a parser would do the same, or
 * drop them.
 */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => escapes[character] ?? "")
    .replace(forbidden, "\ufffd");
}

/** Control characters but tab, line feed and carriage return, and code points that are no characters. */
const forbidden = /(?![\t\n\r])\p{Cc}|[\ufdd0-\ufdef\ufffe\uffff]/gu;

/** Characters of a foreign text that a cell shows. */
const cellLength = 160;

/**
 * A text of the service, isolated from the direction of what surrounds it: the first characters, and how many were left out. A dash
 * stands for null, and a word for a blank text.
 */
export function foreign(text: string | null, longest = cellLength): HtmlValue {
  if (text === null) return none;
  const { shown, left } = beginningOf(text, longest);
  if (isBlank(shown)) return html`<span class="none">blank</span>`;
  if (left === 0) return html`<bdi>${shown}</bdi>`;
  return html`<bdi>${shown}…</bdi> <span class="left-out">+${countText(left, "character")}</span>`;
}

/** Stands where nothing is known. */
export const none: Html = html`<span class="none">–</span>`;

/** The same for an attribute or a heading that marks no direction: cut, harmless, without a count. */
export function foreignText(text: string, longest = cellLength): string {
  const { shown, left } = beginningOf(text, longest);
  return left === 0 ? shown : `${shown}…`;
}

/**
 * A text in which no character changes the direction of others unseen: the marks that embed, override or isolate are written out, such as
 * `[U+202E]`, and those of a single place are dropped, because the direction of every text is found from its letters. Of accents that
 * pile up on one letter, eight stay.
 */
export function harmless(text: string): string {
  const written = (mark: string) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`;
  return text
    .replace(/[\u200e\u200f\u061c]/g, "")
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, written)
    .replace(/(\p{M}{8})\p{M}+/gu, "$1");
}

/** Whether a text shows nothing: blanks, and characters without a width. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Cf}\u115f\u1160\u3164\uffa0]*$/u.test(text);
}

function beginningOf(text: string, longest: number): { readonly shown: string; readonly left: number } {
  // A character takes two units at the most, so that the rest of a long text need not be taken apart.
  const shown = Array.from(text.slice(0, 2 * longest))
    .slice(0, longest)
    .join("");
  return { shown: harmless(shown), left: charactersOf(text) - charactersOf(shown) };
}

/** Code points. */
function charactersOf(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}
