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

const signs: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/**
 * A text as HTML has it. Characters that no HTML document may hold, and half characters, become U+FFFD: a parser would do the same, or
 * drop them.
 */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (sign) => signs[sign] ?? "")
    .replace(forbidden, "\ufffd");
}

/** Control characters but tab, line feed and carriage return, and code points that are no characters. */
const forbidden = /(?![\t\n\r])\p{Cc}|[\ufdd0-\ufdef\ufffe\uffff]/gu;
