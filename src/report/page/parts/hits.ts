import { countText } from "../../../amounts.js";
import type { DocumentHits, HitFacts, NeverHitChunk } from "../../history-facts.js";
import { documentCell, documentName, numberText, shareText, timeText } from "../cells.js";
import { foreign } from "../foreign.js";
import { type HtmlValue, html } from "../html.js";
import { renderHitStrips } from "../pictures/hit-strips.js";
import type { Section } from "../section.js";
import { renderTable, type TableColumn, tableBytes } from "../table.js";

/** The chunks that are never retrieved, and their places. */
export function hitsSection(facts: HitFacts): Section {
  const { enabled, never, documents, chunks } = facts;
  return {
    id: "hits",
    title: "Where chunks are never found",
    lead: leadOf(facts),
    body: enabled > 0 && [
      renderHitStrips(facts, findingOf(facts)),
      renderTable(documentColumns, documents, { caption: "Retrieval per document", bytes: tableBytes }),
      never > 0 && [
        html`<h3>The longest chunks that were never retrieved</h3>
<p>A chunk that no question ever reached costs tokens and answers nothing. It may be too long, too short, out of date, or say what another one says better.</p>`,
        renderTable(chunkColumns, chunks, {
          caption: "Chunks that were never retrieved, the longest first",
          bytes: tableBytes,
        }),
      ],
    ],
  };
}

function leadOf({ enabled, never, has_history, documents }: HitFacts): HtmlValue {
  if (enabled === 0) {
    return "This dump says nothing about it: it holds no enabled chunk for which the service counts how often it was retrieved.";
  }
  const before = has_history
    ? " Retrievals before a re-index count, too."
    : " A re-index sets the counts of the service back to 0, and no history of the job tells what was retrieved before.";
  if (never === enabled) {
    const none =
      enabled === 1 ? "The one enabled chunk was never" : `None of the ${countText(enabled, "enabled chunk")} was ever`;
    return `${none} retrieved. This may be a new knowledge base, or one that nobody asks, and need not be a fault of the chunks.${before}`;
  }
  if (never === 0)
    return `Everything is found: ${enabled === 1 ? "the one enabled chunk" : `each of the ${countText(enabled, "enabled chunk")}`} was retrieved at least once.${before}`;
  const [first] = documents.rows;
  const most =
    first &&
    first.never > 0 &&
    html` ${documentName(first)} has the most of them: ${numberText(first.never)} of ${numberText(first.enabled)}.`;
  return html`${shareText(never, enabled)} of the enabled chunks were never retrieved: ${numberText(never)} of ${numberText(enabled)}.${most}${before}`;
}

function findingOf({ documents, never, enabled }: HitFacts): string {
  if (never === 0) return "Every part of every document is found.";
  if (never === enabled) return "No part of any document was ever found.";
  const blind = documents.rows.filter((row) => row.never === row.enabled && row.enabled > 0).length;
  const half = documents.rows.filter((row) => 2 * row.never > row.enabled).length;
  const shown = documents.rows.length;
  const which =
    documents.total > shown
      ? `the ${countText(shown, "document")} with the most such chunks`
      : countText(shown, "document");
  const halfText = `In ${half} of ${which}, more than half of the chunks were never retrieved`;
  return blind > 0 ? `${halfText}; from ${blind} of them nothing ever was.` : `${halfText}.`;
}

const documentColumns: readonly TableColumn<DocumentHits>[] = [
  { title: "Document", cell: documentCell },
  {
    title: "Enabled chunks",
    cell: ({ enabled }) => numberText(enabled),
    sort: ({ enabled }) => enabled,
    isNumber: true,
  },
  { title: "Never retrieved", cell: ({ never }) => numberText(never), sort: ({ never }) => never, isNumber: true },
  {
    title: "Share",
    cell: ({ never, enabled }) => shareText(never, enabled),
    sort: ({ never, enabled }) => (enabled > 0 ? never / enabled : null),
    isNumber: true,
  },
  { title: "Retrievals now counted", cell: ({ hits }) => numberText(hits), sort: ({ hits }) => hits, isNumber: true },
];

const chunkColumns: readonly TableColumn<NeverHitChunk>[] = [
  { title: "Document", cell: documentCell },
  { title: "Position", cell: ({ position }) => numberText(position), sort: ({ position }) => position, isNumber: true },
  {
    title: "Characters",
    cell: ({ characters }) => numberText(characters),
    sort: (row) => row.characters,
    isNumber: true,
  },
  { title: "Made", cell: ({ created_at }) => timeText(created_at), sort: ({ created_at }) => created_at },
  { title: "Beginning", cell: ({ beginning }) => foreign(beginning) },
];
