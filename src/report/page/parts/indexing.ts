import { greatest, sum } from "d3-array";
import { countText, durationText } from "../../../amounts.js";
import type { DocumentIndexing, IndexingFacts, ListedDocument } from "../../state-facts.js";
import { documentCell, numberText, stateText, type Tone, timeText } from "../cells.js";
import { foreign } from "../foreign.js";
import { type HtmlValue, html } from "../html.js";
import { unreadText } from "../indexing-words.js";
import { renderIndexingBars } from "../pictures/indexing-bars.js";
import { indexingSpans } from "../pictures/indexing-spans.js";
import type { Section } from "../section.js";
import { renderTable, type TableColumn, tableBytes } from "../table.js";
import { notIndexedOf } from "./not-indexed.js";

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
