import { type Html, type HtmlValue, html } from "../html.js";
import { type Fill, renderHatch, renderPiece } from "./svg.js";

/** A fill and the words for it. */
export interface Key {
  readonly fill: Fill;
  readonly text: string;
}

export interface PictureText {
  /** The beginning of every id in the picture; each picture has another one. */
  readonly id: string;
  /** The finding, not the drawing, in a sentence: this is the text alternative. */
  readonly finding: HtmlValue;
  /** How to read it, where the labels do not say it. */
  readonly hint?: HtmlValue;
  readonly keys?: readonly Key[];
  /** Whether the figures of the rows are whole phrases, which need a wide column. */
  readonly hasPhrases?: boolean;
}

/** A picture with its finding above it. The drawing counts as one image, which the finding names. */
export function renderFigure({ id, finding, hint, keys = [], hasPhrases }: PictureText, drawing: HtmlValue): Html {
  return html`<figure class="chart${hasPhrases && " phrases"}">
<figcaption><p id="${id}-finding">${finding}</p>
${hint && html`<p class="hint">${hint}</p>`}
${keys.length > 0 && html`<p class="keys">${keys.map(renderKey)}</p>`}</figcaption>
<div role="img" aria-labelledby="${id}-finding">
${drawing}
</div>
</figure>`;
}

function renderKey({ fill, text }: Key): Html {
  const swatch = renderPiece({ from: 0, to: 100, top: 1, height: 10, fill });
  return html`<span class="key"><svg width="14" height="12" aria-hidden="true">${swatch}</svg> ${text}</span> `;
}

/** The hatches of a picture, which its drawings use by their ids. Nothing of it is seen. */
export function renderHatches(hatches: readonly { readonly id: string; readonly mark: string }[]): Html {
  return html`<svg class="hatches" width="0" height="0" aria-hidden="true">${hatches.map(renderHatch)}</svg>`;
}
