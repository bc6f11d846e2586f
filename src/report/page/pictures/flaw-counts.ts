import { type Html, html } from "../html.js";

export interface FlawCount {
  readonly title: string;
  readonly count: number;
}

const rowHeight = 34;

/** A bar for each kind of flaw, on one scale, with the number beside it. */
export function drawFlawCounts(counts: readonly FlawCount[]): Html {
  const most = Math.max(1, ...counts.map(({ count }) => count));
  const text = counts.map(({ title, count }) => `${title}: ${count.toLocaleString("en-US")}`).join(", ");
  const bars = counts.map(({ title, count }, at) => {
    const top = at * rowHeight;
    const width = Math.round((10_000 * count) / most) / 100;
    return html`<text class="label" x="0" y="${top + 13}">${title} <tspan class="value">${count.toLocaleString("en-US")}</tspan></text>
<rect class="track" x="0" y="${top + 19}" width="100%" height="8" rx="2"/>${count > 0 && html`<rect class="bar mark-1" x="0" y="${top + 19}" width="${width}%" height="8" rx="2"/>`}
`;
  });
  return html`<svg class="picture flaw-counts" role="img" aria-labelledby="flaw-counts-title" width="100%" height="${counts.length * rowHeight}">
<title id="flaw-counts-title">${text}</title>
${bars}</svg>`;
}
