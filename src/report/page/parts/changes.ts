import { ascending, greatest, max, sum } from "d3-array";
import { scaleLinear } from "d3-scale";
import { stack } from "d3-shape";
import { countText } from "../../../amounts.js";
import { type ChangedKind, type ChangeFacts, changedKinds, type RunChanges } from "../../report-facts.js";
import { foreign, type HtmlValue, html, type Section } from "../html.js";
import {
  countTicks,
  dayText,
  renderBreak,
  renderFigure,
  renderPiece,
  renderRows,
  renderUpright,
  scaleEnd,
  shownText,
} from "../pictures.js";
import { numberText, renderTable, secondText, stateText, type TableColumn, tableBytes } from "../table.js";

/** The changes that each run found since the one before. */
export function changesSection(facts: ChangeFacts): Section {
  const { runs, total, query } = facts;
  const rows = runs.toReversed();
  return {
    id: "changes",
    title: "Changes per run",
    lead: leadOf(facts),
    body: [
      runs.length > 0 && renderChangeBars(facts, findingOf(runs)),
      runs.length > 0 &&
        renderTable(columns, { rows, total, query }, { caption: "Changes per run", bytes: tableBytes }),
    ],
  };
}

function leadOf({ runs, total, reason }: ChangeFacts): HtmlValue {
  const newest = runs.at(-1);
  if (!newest) {
    return html`There is no history to show. ${foreign(reason, 300)} A job keeps one when its file has <code>duckdb</code> among <code>output.formats</code>: then every run notes what changed.`;
  }
  const runText = `The history knows ${countText(total, "run")} up to this one.`;
  if (newest.counts === null)
    return `${runText} This one had no earlier run to compare with, so that changes show from the next run on.`;
  const changes = changesOf(newest);
  const newestText =
    changes === 0 ? " This run found nothing changed." : ` This run found ${countText(changes, "change")}.`;
  const reindexes = runs.filter(({ counts }) => (counts?.reindexed ?? 0) > 0);
  const last = reindexes.at(-1);
  const reindexText =
    last &&
    html` ${countText(reindexes.length, "run")} found re-indexed chunks, the last time on ${dayText(last.started_at)} (${countText(last.counts?.reindexed ?? 0, "chunk")}).`;
  return [runText, newestText, reindexText];
}

function findingOf(runs: readonly RunChanges[]): HtmlValue {
  const most = greatest(runs, changesOf);
  if (!most || changesOf(most) === 0) return "No run found a change.";
  return html`The run of ${dayText(most.started_at)} found the most: ${countText(changesOf(most), "change")}.`;
}

function changesOf({ counts }: RunChanges): number {
  return counts === null ? 0 : sum(Object.values(counts));
}

const removed: Group = { text: "removed", mark: "mark-2", kinds: ["removed"] };

const titles: Readonly<Record<ChangedKind, string>> = {
  added: "Added",
  removed: "Removed",
  changed: "Text changed",
  moved: "Moved",
  reindexed: "Re-indexed",
  switched: "Enabled or disabled",
  fields: "Other fields",
  children_added: "Child chunks added",
  children_removed: "Child chunks removed",
  children_changed: "Child chunks changed",
  children_fields: "Other changes of child chunks",
};

const columns: readonly TableColumn<RunChanges>[] = [
  { title: "Run", cell: ({ started_at }) => secondText(started_at), sort: ({ started_at }) => started_at },
  {
    title: "State",
    cell: ({ status }) => stateText(status === "complete" ? "good" : "warn", foreign(status, 40)),
  },
  { title: "Chunks", cell: ({ chunks }) => numberText(chunks), sort: ({ chunks }) => chunks, isNumber: true },
  ...changedKinds.map((kind) => ({
    title: titles[kind],
    cell: ({ counts }: RunChanges) => numberText(counts?.[kind] ?? null),
    sort: ({ counts }: RunChanges) => counts?.[kind] ?? null,
    isNumber: true,
  })),
];

/** Runs that the picture shows at the most. */
const mostRuns = 40;
const height = 22;

type Counts = Readonly<Record<ChangedKind, number>>;

/** Kinds that share a fill. */
interface Group {
  readonly text: string;
  readonly mark: string;
  readonly kinds: readonly ChangedKind[];
}

/** A bar on one side of the middle: a thick one of chunks, a thin one below of child chunks. */
interface Lane {
  readonly side: "left" | "right";
  readonly top: number;
  readonly height: number;
  readonly groups: readonly Group[];
}

const rightGroups: readonly Group[] = [
  { text: "added", mark: "mark-3", kinds: ["added"] },
  { text: "text changed", mark: "mark-1", kinds: ["changed"] },
  { text: "re-indexed", mark: "mark-4", kinds: ["reindexed"] },
  { text: "moved, switched or other fields", mark: "mark-7", kinds: ["moved", "switched", "fields"] },
];
const lanes: readonly Lane[] = [
  { side: "left", top: 3, height: 11, groups: [removed] },
  { side: "right", top: 3, height: 11, groups: rightGroups },
  { side: "left", top: 16, height: 3, groups: [{ ...removed, kinds: ["children_removed"] }] },
  {
    side: "right",
    top: 16,
    height: 3,
    groups: [
      { text: "added", mark: "mark-3", kinds: ["children_added"] },
      { text: "text changed", mark: "mark-1", kinds: ["children_changed"] },
      { text: "moved, re-indexed or other fields", mark: "mark-7", kinds: ["children_fields"] },
    ],
  },
];

/** The changes that each run found: removed ones to the left, all others to the right, the newest run first. */
function renderChangeBars({ runs, total }: ChangeFacts, finding: HtmlValue): HtmlValue {
  const shown = runs.slice(-mostRuns).reverse();
  const lengths = shown.flatMap(({ counts }) => (counts ? lanes.map((lane) => lengthOf(lane, counts)) : []));
  const end = scaleEnd(lengths);
  if (end === 0) return "";
  const longest = (side: Lane["side"]) => Math.min(end, max(shown, ({ counts }) => sideLength(side, counts)) ?? 0);
  const range = [-longest("left"), longest("right")] as const;
  const place = scaleLinear(range, [0, 100]).clamp(true);
  const isCut = lengths.some((length) => length > end);
  return renderFigure(
    {
      id: "change-bars",
      finding,
      hint: html`Removed chunks go to the left, all others to the right. The thin bar below counts child chunks.${isCut && " An oblique cut ends a bar that is longer than the scale; the number beside it counts all of it."}${shownText(shown.length, total, "the newest")}`,
      keys: [removed, ...rightGroups].map(({ mark, text }) => ({ fill: { mark }, text })),
      hasPhrases: true,
    },
    renderRows(
      shown.map((run) => ({ name: secondText(run.started_at), marks: marksOf(run, end, place), value: figureOf(run) })),
      countTicks(...range),
      height,
    ),
  );
}

function marksOf({ counts }: RunChanges, end: number, place: (value: number) => number): HtmlValue {
  return [counts && lanes.map((lane) => renderLane(lane, counts, end, place)), renderUpright(place(0), height, "base")];
}

/** The pieces of a lane from the middle outwards. A lane that is longer than the scale keeps its proportions. */
function renderLane(lane: Lane, counts: Counts, end: number, place: (value: number) => number): HtmlValue {
  const length = lengthOf(lane, counts);
  const shrink = length > end ? end / length : 1;
  const direction = lane.side === "left" ? -1 : 1;
  const pieces = stack<Counts, Group>()
    .keys(lane.groups)
    .value((each, { kinds }) => sum(kinds, (kind) => each[kind]) * shrink * direction)([counts]);
  const bars = pieces.map(({ key, 0: piece }) => {
    const [from = 0, to = 0] = [place(piece?.[0] ?? 0), place(piece?.[1] ?? 0)].sort(ascending);
    const count = sum(key.kinds, (kind) => counts[kind]);
    const { top, height } = lane;
    const bar = { from, to, top, height, fill: { mark: key.mark } };
    // No pointer hits a thin bar: the table has its numbers.
    const title = height > 5 ? { title: `${key.text}: ${count.toLocaleString("en-US")}` } : {};
    return count > 0 && renderPiece({ ...bar, ...title });
  });
  return [bars, length > end && renderBreak(lane.side, height)];
}

function lengthOf({ groups }: Lane, counts: Counts): number {
  return sum(groups, ({ kinds }) => sum(kinds, (kind) => counts[kind]));
}

function sideLength(side: Lane["side"], counts: Counts | null): number {
  return counts === null ? 0 : (max(lanes, (lane) => (lane.side === side ? lengthOf(lane, counts) : 0)) ?? 0);
}

function figureOf({ counts, status }: RunChanges): HtmlValue {
  const partial = status !== "complete" && html` <b class="warn">${foreign(status, 20)}</b>`;
  if (counts === null) return html`no earlier run${partial}`;
  const all = sum(Object.values(counts));
  const reindexed = counts.reindexed > 0 && html` <b class="reindexed">re-index</b>`;
  return html`${all.toLocaleString("en-US")}${reindexed}${partial}`;
}
