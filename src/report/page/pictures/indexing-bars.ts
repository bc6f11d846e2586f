import { durationText } from "../../../amounts.js";
import type { DocumentIndexing, IndexingFacts } from "../../state-facts.js";
import { shareText } from "../cells.js";
import { foreign } from "../foreign.js";
import { type HtmlValue, html } from "../html.js";
import { renderFigure, renderHatches } from "./figure.js";
import { type IndexingSpans, indexingSpans, stages } from "./indexing-spans.js";
import { mostPictureRows, type PictureRow, renderRows, shortName, shownText } from "./rows.js";
import { scaleEnd } from "./scale-end.js";
import { type Fill, renderBreak, renderPiece } from "./svg.js";
import { durationTicks } from "./ticks.js";

const height = 20;
const [top, barHeight] = [4, 12];

const fills: Readonly<Record<string, Fill>> = {
  parsing: { mark: "mark-6" },
  cleaning: { mark: "mark-5" },
  splitting: { mark: "mark-8" },
  indexing: { mark: "mark-3" },
};
const open = { hatch: "indexing-open" };
const failed = { hatch: "indexing-failed" };
const ends = [
  { stage: "not completed", text: "not completed, up to the last reading", fill: open },
  { stage: "error", text: "ended in an error", fill: failed },
];

/**
 * How long each document took, stage by stage, all from their own beginning: documents that were indexed days apart can be compared.
 * Documents without a beginning have no bar.
 */
export function renderIndexingBars({ documents }: IndexingFacts, finding: HtmlValue): HtmlValue {
  const shown = documents.rows.slice(0, mostPictureRows);
  if (shown.length === 0) return "";
  const spans = shown.map(indexingSpans);
  const pieces = spans.flatMap((each) => each.pieces);
  const lengths = spans.map(({ length }) => length);
  const done = spans.filter(({ isCompleted }) => isCompleted).map(({ length }) => length);
  // Documents that are stuck would press the others together: the longest that was completed takes a half of the scale at least.
  const end = Math.min(scaleEnd(lengths), scaleEnd(done) === 0 ? Number.POSITIVE_INFINITY : 2 * scaleEnd(done)) || 1;
  const rows = shown.map((document, at) => rowOf(document, spans[at] ?? indexingSpans(document), end));
  const isCut = lengths.some((length) => length > end);
  const order = "those first that are not completed, then the newest";
  return renderFigure(
    {
      id: "indexing-bars",
      finding,
      hint: html`Every bar begins where the indexing of its document began; the scale counts the time since.${isCut && " An oblique cut ends a bar that goes on beyond the scale."}${shownText(shown.length, documents.total, order)}`,
      keys: [
        ...stages.map((text) => ({ fill: fills[text] ?? open, text })),
        ...ends.filter(({ stage }) => pieces.some((piece) => piece.stage === stage)),
      ],
      hasPhrases: true,
    },
    [
      renderHatches([
        { id: open.hatch, mark: "warn" },
        { id: failed.hatch, mark: "bad" },
      ]),
      renderRows(rows, durationTicks(end), height),
    ],
  );
}

function rowOf(document: DocumentIndexing, { pieces, length }: IndexingSpans, end: number): PictureRow {
  const place = (time: number) => (100 * time) / end;
  const marks = pieces.map(({ from, to, stage }) =>
    renderPiece({
      from: place(from),
      to: place(to),
      top,
      height: barHeight,
      fill: fills[stage] ?? (stage === "error" ? failed : open),
      title: `${stage}: ${durationText(to - from)}`,
    }),
  );
  return {
    name: shortName(document),
    marks: [marks, length > end && renderBreak("right", height)],
    value: figureOf(document, length),
  };
}

function figureOf(
  { indexing_status, started_at, completed_segments, total_segments }: DocumentIndexing,
  length: number,
): HtmlValue {
  const time = started_at === null ? "" : durationText(length);
  if (indexing_status === "completed") return time;
  const progress = total_segments ? ` ${shareText(completed_segments ?? 0, total_segments)}` : "";
  const mark = indexing_status === "error" ? "bad" : "warn";
  return html`<b class="${mark}">${foreign(indexing_status, 20)}${progress}</b> ${time}`;
}
