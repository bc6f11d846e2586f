import { cumsum, greatestIndex, least, max, sum } from "d3-array";
import { scaleLinear, scaleUtc } from "d3-scale";
import { stack } from "d3-shape";
import { ageText, countText } from "../../../amounts.js";
import type { DocumentFreshness, FreshnessFacts, ReadState } from "../../report-facts.js";
import { type Html, type HtmlValue, html, type Section } from "../html.js";
import {
  dateTicks,
  dayText,
  type Fill,
  hundredths,
  type Key,
  percent,
  renderDrawing,
  renderFigure,
  renderHatches,
  renderLabel,
  renderPiece,
} from "../pictures.js";
import {
  documentCell,
  documentName,
  numberText,
  renderTable,
  stateText,
  type TableColumn,
  type Tone,
  tableBytes,
  timeText,
} from "../table.js";

/** How fresh every document is: when it was last read whole, and when it last changed. */
export function freshnessSection(facts: FreshnessFacts): Section {
  const { documents, as_of } = facts;
  return {
    id: "freshness",
    title: "Freshness of every document",
    lead: leadOf(facts),
    body: [
      renderOthers(facts),
      renderChangeSpans(facts),
      renderTable(columnsAt(as_of), documents, { caption: "Freshness of documents", bytes: tableBytes }),
    ],
  };
}

const meanings: readonly (readonly [state: ReadState, tone: Tone, meaning: string])[] = [
  ["fresh", "good", ""],
  ["stale", "warn", "this run could not read them whole; the database of the job has the rows of an earlier one"],
  ["unstable", "warn", "they changed while this run read them"],
  ["never read", "bad", "no run has read them whole so far"],
  ["not in this run", "quiet", "an earlier run had them; they were deleted since, or this run was not asked for them"],
];

function leadOf({ states, documents, as_of, has_history }: FreshnessFacts): HtmlValue {
  const all = sum(Object.values(states));
  if (all === 0) return "The dump holds no document.";
  const fresh =
    states.fresh === all
      ? `${all === 1 ? "The one document is" : `All ${all.toLocaleString("en-US")} documents are`} fresh: this run read everything.`
      : `${states.fresh.toLocaleString("en-US")} of ${countText(all, "document")} ${states.fresh === 1 ? "is fresh: this run read it" : "are fresh: this run read them"} whole.`;
  // Fresh documents come last but for those of other runs: where one is shown, every other document of this run is.
  const here = documents.rows.filter(({ state }) => state !== "not in this run");
  const isKnown = documents.rows.length === documents.total || here.some(({ state }) => state === "fresh");
  const oldest = isKnown ? least(here, ({ changed_at }) => changed_at ?? Number.POSITIVE_INFINITY) : undefined;
  const change =
    oldest?.changed_at != null &&
    html` The oldest last change is that of ${documentName(oldest)}, ${ageText(as_of - oldest.changed_at)} before this run.`;
  const unknown =
    !has_history && states.fresh < all && " Without the database of the job, earlier reads are not known.";
  return [fresh, change, unknown];
}

/** The states of documents that this run did not read whole, with their meaning. */
function renderOthers({ states }: FreshnessFacts): HtmlValue {
  const others = meanings.filter(([state]) => state !== "fresh" && states[state] > 0);
  const items = others.map(
    ([state, tone, meaning]) =>
      html`<li>${stateText(tone, `${states[state].toLocaleString("en-US")} ${state}`)}: ${meaning}.</li>\n`,
  );
  return items.length > 0 && html`<ul class="states">${items}</ul>`;
}

function columnsAt(asOf: number): readonly TableColumn<DocumentFreshness>[] {
  const toneOf = (state: ReadState) => meanings.find(([each]) => each === state)?.[1] ?? "quiet";
  return [
    { title: "Document", cell: documentCell },
    { title: "State", cell: ({ state }) => stateText(toneOf(state), state) },
    { title: "Last change", cell: ({ changed_at }) => timeText(changed_at), sort: ({ changed_at }) => changed_at },
    {
      title: "Unchanged for",
      cell: ({ changed_at }) => (changed_at === null ? "–" : ageText(asOf - changed_at)),
      sort: ({ changed_at }) => (changed_at === null ? null : asOf - changed_at),
      isNumber: true,
    },
    { title: "Last read whole", cell: ({ read_well_at }) => timeText(read_well_at), sort: (row) => row.read_well_at },
    { title: "Chunks", cell: ({ chunks }) => numberText(chunks), sort: ({ chunks }) => chunks, isNumber: true },
  ];
}

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
function renderChangeSpans({ spans }: FreshnessFacts): HtmlValue {
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
