import { countText } from "../../../amounts.js";
import type { DocumentHits, HitFacts, NeverHitChunk } from "../../report-facts.js";
import { foreign, type Html, type HtmlValue, html, type Section } from "../html.js";
import {
  hundredths,
  mostPictureRows,
  type PictureRow,
  renderFigure,
  renderRows,
  shortName,
  shownText,
} from "../pictures.js";
import {
  documentCell,
  documentName,
  numberText,
  renderTable,
  shareText,
  type TableColumn,
  tableBytes,
  timeText,
} from "../table.js";

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
    return `${none} retrieved. This may be a new knowledge base, or an unused one, and need not be a fault of the chunks.${before}`;
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

const height = 24;
const [top, base] = [2, 22];

/**
 * Each document from its beginning to its end in places: the higher a place is filled, the more of its chunks were never retrieved. The
 * height says it, so that no shade must be compared; a place without chunks stays blank.
 */
function renderHitStrips({ documents }: HitFacts, finding: HtmlValue): HtmlValue {
  const shown = documents.rows.filter(({ never }) => never > 0).slice(0, mostPictureRows);
  if (shown.length === 0) return "";
  const rows: PictureRow[] = shown.map((document) => ({
    name: shortName(document),
    marks: renderPaths(document.places),
    value: `${shareText(document.never, document.enabled)} never`,
  }));
  return renderFigure(
    {
      id: "hit-strips",
      finding,
      hint: html`Every strip is a document in ${shown[0]?.places.length ?? 0} places from its beginning to its end. The higher a place is filled, the more of its chunks were never retrieved; a place without chunks is blank.${shownText(shown.length, documents.total, "those with the most chunks that were never retrieved")}`,
      keys: [
        { fill: { mark: "place" }, text: "retrieved" },
        { fill: { mark: "never" }, text: "never retrieved" },
      ],
    },
    renderRows(
      rows,
      [
        { place: 0, label: "beginning" },
        { place: 100, label: "end" },
      ],
      height,
    ),
  );
}

/** Two paths instead of two marks for every place: a page has many of them. One unit of the drawing is one place. */
function renderPaths(places: DocumentHits["places"]): Html {
  const filled = places.map(({ enabled, never }) => (enabled > 0 ? Math.min(1, never / enabled) : null));
  const all = filled.map((share, at) => (share === null ? "" : boxPath(at, 1)));
  const never = filled.map((share, at) => (share ? boxPath(at, share) : ""));
  return html`<svg viewBox="0 0 ${Math.max(places.length, 1)} ${height}" preserveAspectRatio="none" width="100%" height="${height}"><path class="place" d="${all.join("")}"/><path class="never" d="${never.join("")}"/></svg>`;
}

/** A box on the base line, whose height is the share of the whole. */
function boxPath(at: number, share: number): string {
  const high = hundredths((base - top) * share);
  return `M${hundredths(at + 0.04)} ${base}h.92v-${high}h-.92z`;
}
