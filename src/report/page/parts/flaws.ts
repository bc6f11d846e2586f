import { countText } from "../../../amounts.js";
import type { Cut } from "../../lost-facts.js";
import type { LocatedChunk } from "../../named-document.js";
import type { ChunkError, DisabledChunk, DuplicateGroup, FlawFacts, OrphanedChild } from "../../report-facts.js";
import { foreign, type Html, type HtmlValue, html, type Section } from "../html.js";
import { documentCell, idText, numberColumn, renderTable, type TableColumn, tableBytes, timeText } from "../table.js";

/** Rows that deserve a look: copies, child chunks without a parent, chunks with errors, and disabled ones. */
export function flawsSection(facts: FlawFacts): Section {
  const { duplicates, copies, orphans, errors, disabled } = facts;
  const counts = [
    { title: "Duplicates", count: copies.chunks },
    { title: "Orphans", count: orphans.total },
    { title: "Errors", count: errors.total },
    { title: "Disabled", count: disabled.total },
  ];
  const isClean = counts.every(({ count }) => count === 0);
  return {
    id: "flaws",
    title: "Duplicates, orphans, errors, disabled",
    lead: isClean
      ? "No chunk is a copy, has an error or is disabled, and every child chunk has its parent."
      : leadOf(facts),
    body: isClean
      ? ""
      : [
          drawFlawCounts(counts),
          part(
            "Duplicates",
            copies.chunks,
            `${countText(copies.chunks, "chunk")} with ${countText(copies.characters, "character")} ${copies.chunks === 1 ? "repeats" : "repeat"} a text that stands elsewhere. They cost storage and tokens, and take places in the results of a search. Keep one of each, and remove the others from their sources.${duplicates.rows.some(({ answers }) => answers > 1) ? " Where their answers differ, decide first which one holds." : ""}`,
            renderDuplicates(duplicates),
          ),
          part(
            "Orphans",
            orphans.total,
            "The parent of these child chunks is not in the dump. The service may have deleted it meanwhile, or its document is not complete. A search may still find them. Index the document again.",
            renderOrphans(orphans),
          ),
          part(
            "Errors",
            errors.total,
            "The service could not index these chunks, so that no search finds them. Remove the cause, such as a limit of the embedding model, then save the chunks again or index the document again.",
            renderErrors(errors),
          ),
          part(
            "Disabled",
            disabled.total,
            "Somebody switched these chunks off: no search finds them. Check that this is still meant. A re-index enables them again.",
            renderDisabled(disabled),
          ),
        ],
  };
}

function leadOf({ copies, orphans, errors, disabled }: FlawFacts): string {
  const found = [
    copies.chunks > 0 &&
      `${countText(copies.chunks, "chunk")} ${copies.chunks === 1 ? "is a copy" : "are copies"} of others`,
    orphans.total > 0 && `${countText(orphans.total, "child chunk")} without a parent`,
    errors.total > 0 && `${countText(errors.total, "chunk")} with an error`,
    disabled.total > 0 && countText(disabled.total, "disabled chunk"),
  ].filter((text) => text !== false);
  return `Rows that deserve a look: ${found.join("; ")}.`;
}

function part(title: string, count: number, advice: string, table: HtmlValue): Html {
  return html`<h3>${title}</h3>
${count === 0 ? html`<p>None.</p>` : html`<p>${advice}</p>${table}`}`;
}

/** Characters of a text that a row shows. */
const beginningLength = 200;

function renderDuplicates(duplicates: Cut<DuplicateGroup>): Html {
  return renderTable<DuplicateGroup>(
    [
      { title: "First of them", cell: ({ first }) => documentCell(first) },
      positionColumn(({ first }) => first),
      { title: "Text", cell: ({ beginning }) => foreign(beginning, beginningLength), isLong: true },
      numberColumn("Copies", ({ copies }) => copies),
      numberColumn("Documents", ({ documents }) => documents),
      numberColumn("Different answers", ({ answers }) => answers),
      numberColumn("Characters", ({ characters }) => characters),
    ],
    duplicates,
    { caption: "Texts that stand in several chunks", bytes: tableBytes },
  );
}

function renderOrphans(orphans: Cut<OrphanedChild>): Html {
  return renderTable<OrphanedChild>(
    [
      ...locationColumns<OrphanedChild>(),
      { title: "Text", cell: ({ beginning }) => foreign(beginning, beginningLength), isLong: true },
      { title: "Missing parent", cell: ({ segment_id }) => idText(segment_id) },
    ],
    orphans,
    { caption: "Child chunks without a parent", bytes: tableBytes },
  );
}

function renderErrors(errors: Cut<ChunkError>): Html {
  return renderTable<ChunkError>(
    [
      ...locationColumns<ChunkError>(),
      { title: "Status", cell: ({ status }) => foreign(status, 40) },
      { title: "Error", cell: ({ error }) => foreign(error, 300), isLong: true },
    ],
    errors,
    { caption: "Chunks with an error", bytes: tableBytes },
  );
}

function renderDisabled(disabled: Cut<DisabledChunk>): Html {
  return renderTable<DisabledChunk>(
    [
      ...locationColumns<DisabledChunk>(),
      { title: "Text", cell: ({ beginning }) => foreign(beginning, beginningLength), isLong: true },
      { title: "Disabled", cell: ({ disabled_at }) => timeText(disabled_at), sort: ({ disabled_at }) => disabled_at },
      { title: "By account", cell: ({ disabled_by }) => foreign(disabled_by, 80) },
    ],
    disabled,
    { caption: "Disabled chunks", bytes: tableBytes },
  );
}

/** The document of a chunk, its position there, and its id. */
function locationColumns<Row extends LocatedChunk>(): readonly TableColumn<Row>[] {
  return [
    { title: "Document", cell: documentCell },
    positionColumn<Row>((row) => row),
    { title: "Id", cell: ({ id }) => idText(id) },
  ];
}

function positionColumn<Row>(placeOf: (row: Row) => LocatedChunk): TableColumn<Row> {
  return numberColumn("Position", (row: Row) => placeOf(row).position);
}

interface FlawCount {
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
