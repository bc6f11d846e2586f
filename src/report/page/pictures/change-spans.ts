import { cumsum, greatestIndex, max, sum } from "d3-array";
import { scaleLinear, scaleUtc } from "d3-scale";
import { stack } from "d3-shape";
import { countText } from "../../../amounts.js";
import type { FreshnessFacts, ReadState } from "../../state-facts.js";
import { type Html, type HtmlValue, html } from "../html.js";
import { dayText } from "./day-text.js";
import { type Key, renderFigure, renderHatches } from "./figure.js";
import { type Fill, hundredths, percent, renderDrawing, renderLabel, renderPiece } from "./svg.js";
import { dateTicks } from "./ticks.js";

type Span = FreshnessFacts["spans"][number];

const [top, base, height] = [20, 150, 172];

/** Fills from the bottom of a bar upwards; what needs a look lies on top. */
const fills: Readonly<Record<ReadState, Fill>> = {
  fresh: { mark: "mark-1" },
  "not in this run": { mark: "outline" },
  stale: { hatch: "spans-stale" },
  unstable: { hatch: "spans-unstable" },
  "never read": { mark: "bad" },
};
const states = Object.keys(fills) as readonly ReadState[];

/** Documents by the time of their last change, as bars over time in which each state has a fill of its own. */
export function renderChangeSpans({ spans }: FreshnessFacts): HtmlValue {
  const [first, last] = [spans[0], spans.at(-1)];
  const highest = spans[greatestIndex(spans, countOf) ?? -1];
  if (!first || !last || !highest) return "";
  const margin = last.to > first.from ? 0 : 1;
  const [from, to] = [first.from - margin, last.to + margin];
  const x = scaleUtc([from, to], [0, 100]).clamp(true);
  const y = scaleLinear([0, max(spans, countOf) ?? 1], [base, top]);
  const bars = layers(spans).map((layer) =>
    layer.map((piece) => {
      const [low, high] = [y(piece[0]) ?? base, y(piece[1]) ?? base];
      if (!(piece[1] > piece[0])) return "";
      const [begin, end] = [x(piece.data.from - margin), x(piece.data.to + margin)];
      const gap = Math.min(0.4, (end - begin) / 6);
      return renderPiece({ from: begin + gap, to: end - gap, top: high, height: low - high, fill: fills[layer.key] });
    }),
  );
  const middle = (x(highest.from - margin) + x(highest.to + margin)) / 2;
  return renderFigure({ id: "change-spans", finding: findingOf(spans), keys: keysOf(spans) }, [
    renderHatches([
      { id: "spans-stale", mark: "warn" },
      { id: "spans-unstable", mark: "bad" },
    ]),
    renderDrawing(height, [
      bars,
      html`<line class="base" x1="0%" x2="100%" y1="${base}" y2="${base}"/>`,
      renderLabel(middle, top - 6, countOf(highest).toLocaleString("en-US")),
      dateTicks(from, to).map(({ place, label }) => renderTick(place, label)),
    ]),
  ]);
}

function layers(spans: readonly Span[]) {
  return stack<Span, ReadState>()
    .keys(states)
    .value(({ documents }, state) => documents[state])(spans);
}

function renderTick(place: number, label: string): Html {
  return html`<line class="base" x1="${percent(place)}" x2="${percent(place)}" y1="${base}" y2="${base + 4}"/>${renderLabel(place, hundredths(height - 5), label)}`;
}

function keysOf(spans: readonly Span[]): readonly Key[] {
  return states
    .map((state) => ({ state, count: sum(spans, ({ documents }) => documents[state]) }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => ({ fill: fills[state], text: `${count.toLocaleString("en-US")} ${state}` }));
}

/** The time before which half of the documents last changed. */
function findingOf(spans: readonly Span[]): Html {
  const all = sum(spans, countOf);
  const counts = cumsum(spans, countOf);
  const middle = counts.findIndex((count) => 2 * count >= all);
  const [count, span] = [counts[middle] ?? 0, spans[middle]];
  if (!span || count === all) {
    const from = dayText(spans.find((each) => countOf(each) > 0)?.from ?? 0);
    const last = spans.at(-1);
    const to = dayText(last ? Math.max(last.from, last.to - 1) : 0);
    if (from.toString() === to.toString())
      return html`${all === 1 ? "The last change was" : `The last changes of all ${countText(all, "document")} were`} on ${to}.`;
    return html`The last changes of all ${countText(all, "document")} lie between ${from} and ${to}.`;
  }
  return html`${count.toLocaleString("en-US")} of ${countText(all, "document")} have not changed since ${dayText(span.to)}.`;
}

function countOf({ documents }: Span): number {
  return sum(states, (state) => documents[state]);
}
