import { type Html, type HtmlValue, html } from "./html.js";

export interface Section {
  /** The anchor, which the contents of the page lead to. */
  readonly id: string;
  readonly title: string;
  /** The answer in a sentence or two, before any picture. */
  readonly lead: HtmlValue;
  readonly body: HtmlValue;
}

export function renderSection({ id, title, lead, body }: Section): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
<p class="lead">${lead}</p>
${body}
</section>`;
}
