import { greatest, max, sum } from "d3-array";
import { countText, durationText } from "../../../amounts.js";
import type { DocumentIndexing, IndexingFacts, ListedDocument } from "../../report-facts.js";
import { foreign, type HtmlValue, html, type Section } from "../html.js";
import {
  durationTicks,
  type Fill,
  mostPictureRows,
  type PictureRow,
  renderBreak,
  renderFigure,
  renderHatches,
  renderPiece,
  renderRows,
  scaleEnd,
  shortName,
  shownText,
} from "../pictures.js";
import {
  documentCell,
  documentName,
  numberText,
  renderTable,
  shareText,
  stateText,
  type TableColumn,
  type Tone,
  tableBytes,
  timeText,
} from "../table.js";

/** How the indexing went, and everything that is stuck. */
export function indexingSection(facts: IndexingFacts): Section {
  const { documents, listed, chunks, was_asked } = facts;
  const caption = "Indexing of the documents of the job's batches";
  return {
    id: "indexing",
    title: "Timeline of the indexing",
    lead: [stuckText(facts), otherStates(facts)],
    body: [
      was_asked ? renderIndexingBars(facts, findingOf(facts)) : withoutBatches,
      was_asked && renderTable(columnsFor(documents.rows), documents, { caption, bytes: tableBytes }),
      listed.total > 0 && [
        html`<h3>Listed with another state than completed</h3>
<p>A document that is not available, or whose indexing is not completed, is not found by a search, or only in part.</p>`,
        renderTable(listedColumns, listed, {
          caption: "Documents that the service lists as not ready",
          bytes: tableBytes / 4,
        }),
      ],
      chunks.length > 0 && [
        html`<h3>Chunks that are not completed</h3>`,
        renderTable(chunkColumns, firstStates(chunks), { caption: "Chunks by their status", bytes: tableBytes / 8 }),
      ],
    ],
  };
}

const withoutBatches = html`<p>There is no timeline, because the job names no batch. The service tells the stages of an indexing by batch alone: the
answer to every upload names one. Add <code>batches: [&lt;batch&gt;]</code> to a dataset of the job file, and the next run reads them.</p>`;

function stuckText(facts: IndexingFacts): HtmlValue {
  const { was_asked, unread_batches, states } = facts;
  if (!was_asked) return "The job names no batch, so that the indexing itself was not watched.";
  const all = sum(states, (state) => state.documents);
  const unread = unread_batches > 0 && ` ${unreadText(unread_batches)}`;
  const { failed, open, text } = notIndexedOf(facts);
  if (all === 0) return unread || "The batches of the job hold no document.";
  if (failed + open > 0) return [text, ` The batches have ${countText(all, "document")}.`, unread];
  const which =
    all === 1 ? "the one document of the batches is" : `all ${countText(all, "document")} of the batches are`;
  return [`${unread ? "As far as is known, nothing" : "Nothing"} is stuck: ${which} completed.`, unread];
}

function otherStates({ listed, chunks }: IndexingFacts): HtmlValue {
  const count = sum(chunks, (state) => state.chunks);
  const list =
    listed.total > 0 &&
    ` The service lists ${countText(listed.total, "document")} with another state than completed and available.`;
  if (count > 0) return [list, ` ${countText(count, "chunk")} ${count === 1 ? "is" : "are"} not completed.`];
  return [
    list,
    listed.total === 0
      ? " The lists of documents and chunks show nothing that is not completed."
      : " Every chunk is completed.",
  ];
}

/** The finding of the picture: how long the indexing takes. */
function findingOf({ documents }: IndexingFacts): string {
  const ended = documents.rows.filter(({ indexing_status }) => indexing_status !== "error");
  const spans = ended.map(indexingSpans);
  const done = spans.filter(({ isCompleted, length }) => isCompleted && length > 0);
  const slowest = greatest(done, ({ length }) => length);
  const open = greatest(
    spans.filter(({ isCompleted }) => !isCompleted),
    ({ length }) => length,
  );
  const doneText = slowest
    ? `Documents were completed within ${durationText(slowest.length)}`
    : "No document was completed";
  return open && open.length > 0
    ? `${doneText}; the first of those at work began ${durationText(open.length)} before the last reading.`
    : `${doneText}.`;
}

/** The errors have a column where there are any. */
function columnsFor(rows: readonly DocumentIndexing[]): readonly TableColumn<DocumentIndexing>[] {
  const [document, state, ...others] = documentColumns;
  return document && state && rows.some(({ error }) => error !== null)
    ? [document, state, errorColumn, ...others]
    : documentColumns;
}

const errorColumn: TableColumn<DocumentIndexing> = {
  title: "Error",
  cell: ({ error }) => foreign(error),
  isLong: true,
};

const documentColumns: readonly TableColumn<DocumentIndexing>[] = [
  { title: "Document", cell: documentCell },
  { title: "State", cell: ({ indexing_status }) => statusCell(indexing_status) },
  { title: "Began", cell: ({ started_at }) => timeText(started_at), sort: ({ started_at }) => started_at },
  {
    title: "Took",
    cell: (row) => (row.started_at === null ? "–" : durationText(indexingSpans(row).length)),
    sort: (row) => (row.started_at === null ? null : indexingSpans(row).length),
    isNumber: true,
  },
  {
    title: "Not moved for",
    cell: ({ unmoved }) => (unmoved === null ? "–" : durationText(unmoved)),
    sort: ({ unmoved }) => unmoved,
    isNumber: true,
  },
  { title: "Chunks done", cell: doneCell, sort: ({ completed_segments }) => completed_segments, isNumber: true },
  { title: "Batch", cell: ({ batch }) => foreign(batch, 40) },
];

function doneCell({ completed_segments, total_segments }: DocumentIndexing): HtmlValue {
  return [numberText(completed_segments), " of ", numberText(total_segments)];
}

const listedColumns: readonly TableColumn<ListedDocument>[] = [
  { title: "Document", cell: documentCell },
  { title: "Indexing", cell: ({ indexing_status }) => statusCell(indexing_status) },
  { title: "Shown as", cell: ({ display_status }) => statusCell(display_status) },
  { title: "Chunks", cell: ({ chunks }) => numberText(chunks), sort: ({ chunks }) => chunks, isNumber: true },
];

type ChunkState = IndexingFacts["chunks"][number];

const chunkColumns: readonly TableColumn<ChunkState>[] = [
  { title: "Status", cell: ({ status }) => statusCell(status) },
  { title: "Chunks", cell: ({ chunks }) => numberText(chunks), sort: ({ chunks }) => chunks, isNumber: true },
  {
    title: "Documents",
    cell: ({ documents }) => numberText(documents),
    sort: ({ documents }) => documents,
    isNumber: true,
  },
];

function firstStates(states: readonly ChunkState[]) {
  return { rows: states, total: states.length, query: null };
}

const tones: Readonly<Record<string, Tone>> = { completed: "good", available: "good", error: "bad" };

function statusCell(status: string | null): HtmlValue {
  return status === null ? foreign(null) : stateText(tones[status] ?? "warn", foreign(status, 40));
}

/** The documents of the job's batches that are not indexed to the end. */
interface NotIndexed {
  /** Those whose indexing ended in an error. */
  readonly failed: number;
  /** Those that wait, are at work or are paused. */
  readonly open: number;
  /** Both kinds in words. */
  readonly text: HtmlValue;
}

export function notIndexedOf({ states, documents }: IndexingFacts): NotIndexed {
  const isFailed = ({ status }: { readonly status: string }) => status === "error";
  const failed = sum(states.filter(isFailed), (state) => state.documents);
  const openStates = states.filter((state) => !isFailed(state) && state.status !== "completed");
  const open = sum(openStates, (state) => state.documents);
  const kinds = openStates.map((state, at) => html`${at > 0 && ", "}${state.documents} ${foreign(state.status, 30)}`);
  return {
    failed,
    open,
    text: [
      failed > 0 && [
        countText(failed, "document"),
        " ended in an error",
        failed === 1 && failedName(documents.rows),
        ".",
      ],
      open > 0 &&
        html`${failed > 0 && " "}${countText(open, "document")} not indexed to the end: ${kinds}.${longestWait(documents.rows)}`,
    ],
  };
}

/** The name of the one document that failed. */
function failedName(rows: readonly DocumentIndexing[]): HtmlValue {
  const failed = rows.find(({ indexing_status }) => indexing_status === "error");
  return failed && html`: ${documentName(failed)}`;
}

/** The document that was seen without a move for the longest time; one that ended in an error does not move any more. */
function longestWait(rows: readonly DocumentIndexing[]): HtmlValue {
  const waiting = rows.filter(({ indexing_status, unmoved }) => indexing_status !== "error" && (unmoved ?? 0) > 0);
  const still = greatest(waiting, ({ unmoved }) => unmoved ?? 0);
  return still && html` ${documentName(still)} has not moved for ${durationText(still.unmoved ?? 0)}.`;
}

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
function renderIndexingBars({ documents }: IndexingFacts, finding: HtmlValue): HtmlValue {
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

/** The stages of an indexing, in the order in which a document goes through them. */
const stages = ["parsing", "cleaning", "splitting", "indexing"] as const;

/** A piece of an indexing, in milliseconds from its beginning. */
interface IndexingPiece {
  readonly stage: (typeof stages)[number] | "error" | "not completed";
  readonly from: number;
  readonly to: number;
}

interface IndexingSpans {
  readonly pieces: readonly IndexingPiece[];
  /** Milliseconds from the beginning up to its end, or to the newest reading. */
  readonly length: number;
  readonly isCompleted: boolean;
}

/**
 * The indexing of a document in pieces that follow each other. A stage whose end the service does not say is part of the next one that has
 * an end. After the last known end, a document that is not completed goes on up to the newest reading, or to its error.
 */
function indexingSpans(document: DocumentIndexing): IndexingSpans {
  const isCompleted = document.indexing_status === "completed";
  const began = document.started_at;
  if (began === null) return { pieces: [], length: 0, isCompleted };
  const ends = [document.parsed_at, document.cleaned_at, document.split_at, document.completed_at];
  const pieces: IndexingPiece[] = [];
  let from = 0;
  for (const [at, stage] of stages.entries()) {
    const end = ends[at] ?? null;
    if (end === null || end - began < from) continue;
    pieces.push({ stage, from, to: end - began });
    from = end - began;
  }
  if (isCompleted) return { pieces, length: from, isCompleted };
  const isError = document.indexing_status === "error";
  const to = ((isError ? document.stopped_at : null) ?? document.captured_at) - began;
  if (to > from) pieces.push({ stage: isError ? "error" : "not completed", from, to });
  return { pieces, length: max(pieces, (piece) => piece.to) ?? 0, isCompleted };
}

/** The sentence for batches that the job names and of which no reading came. */
export function unreadText(batches: number): string {
  return `No reading came of ${batches === 1 ? "1 batch" : `${batches.toLocaleString("en-US")} batches`} that the job names, so that nothing is known of the indexing of ${batches === 1 ? "its" : "their"} documents.`;
}
