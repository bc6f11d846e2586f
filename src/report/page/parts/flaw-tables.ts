import type { Cut } from "../../cut.js";
import type { ChunkError, DisabledChunk, DuplicateGroup, OrphanedChild } from "../../flaw-facts.js";
import type { ChunkPlace } from "../../named-document.js";
import { documentCell, idText, timeText } from "../cells.js";
import { foreign } from "../foreign.js";
import type { Html } from "../html.js";
import { numberColumn, renderTable, type TableColumn, tableBytes } from "../table.js";

/** Characters of a text that a row shows. */
const beginningLength = 200;

export function renderDuplicates(duplicates: Cut<DuplicateGroup>): Html {
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

export function renderOrphans(orphans: Cut<OrphanedChild>): Html {
  return renderTable<OrphanedChild>(
    [
      ...placeColumns<OrphanedChild>(),
      { title: "Text", cell: ({ beginning }) => foreign(beginning, beginningLength), isLong: true },
      { title: "Missing parent", cell: ({ segment_id }) => idText(segment_id) },
    ],
    orphans,
    { caption: "Child chunks without a parent", bytes: tableBytes },
  );
}

export function renderErrors(errors: Cut<ChunkError>): Html {
  return renderTable<ChunkError>(
    [
      ...placeColumns<ChunkError>(),
      { title: "Status", cell: ({ status }) => foreign(status, 40) },
      { title: "Error", cell: ({ error }) => foreign(error, 300), isLong: true },
    ],
    errors,
    { caption: "Chunks with an error", bytes: tableBytes },
  );
}

export function renderDisabled(disabled: Cut<DisabledChunk>): Html {
  return renderTable<DisabledChunk>(
    [
      ...placeColumns<DisabledChunk>(),
      { title: "Text", cell: ({ beginning }) => foreign(beginning, beginningLength), isLong: true },
      { title: "Disabled", cell: ({ disabled_at }) => timeText(disabled_at), sort: ({ disabled_at }) => disabled_at },
      { title: "By account", cell: ({ disabled_by }) => foreign(disabled_by, 80) },
    ],
    disabled,
    { caption: "Disabled chunks", bytes: tableBytes },
  );
}

/** The document of a chunk, its position there, and its id. */
function placeColumns<Row extends ChunkPlace>(): readonly TableColumn<Row>[] {
  return [
    { title: "Document", cell: documentCell },
    positionColumn<Row>((row) => row),
    { title: "Id", cell: ({ id }) => idText(id) },
  ];
}

function positionColumn<Row>(placeOf: (row: Row) => ChunkPlace): TableColumn<Row> {
  return numberColumn("Position", (row: Row) => placeOf(row).position);
}
