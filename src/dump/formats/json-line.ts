import type { ColumnType } from "../../rows/column.js";
import { columns, type Kind } from "../../rows/columns.js";

/** A row as a line of JSON, from its cells as text: a cell that holds JSON stays as it is, so that no number is rounded. */
export function jsonLine(kind: Kind, cells: readonly (string | null)[]): string {
  const members = columns[kind].map(({ name, type }, at) => `"${name}":${cellJson(type, cells[at] ?? null)}`);
  return `{${members.join(",")}}`;
}

function cellJson(type: ColumnType, cell: string | null): string {
  if (cell === null) return "null";
  if (type === "text" || type === "time" || type === "any") return JSON.stringify(cell);
  return cell.replaceAll("\n", " "); // only between values
}
