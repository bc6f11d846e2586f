import type { MoveDifference } from "../../restore/copy/copy-result.js";
import type { PlacedRow } from "../restore/row-lines.js";
import { renderTroubles, type Trouble } from "../restore/troubles.js";
import type { Page } from "../text.js";

const mostFound = { documents: 20, rows: 20 };

/** Renders differences between a run and a service, below their documents and datasets. `names` has those by id. */
export function renderDifferences(
  title: string,
  differences: readonly MoveDifference[],
  names: ReadonlyMap<string, string | null>,
  page: Page,
): readonly string[] {
  return renderTroubles(title, differences.map(troubleOf), mostFound, names, page);
}

function troubleOf(difference: MoveDifference): Trouble {
  const { document_id, id, reason } = difference;
  return { id: document_id ?? id, row: rowOf(difference), reason, next: "" };
}

function rowOf({ level, id, position }: MoveDifference): PlacedRow | null {
  return level === "chunk" || level === "child_chunk" ? { level, id, position } : null;
}
