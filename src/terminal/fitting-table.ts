import { alignedLines } from "./aligned-lines.js";

/** A column of a table: its head, the cell of each row, and how soon it is left out where the table is too wide. */
export interface TableColumn {
  readonly head: string;
  readonly cells: readonly string[];
  readonly isRight?: boolean;
  /** The lowest goes first; one without it always stays. */
  readonly worth?: number;
}

/** Lines of a table, its head first, with as many of its columns as fit into so many characters. */
export function fittingTable(columns: readonly TableColumn[], width: number): readonly string[] {
  const lines = linesOf(columns);
  const worths = columns.flatMap(({ worth }) => worth ?? []);
  if (worths.length === 0 || lines.every((line) => line.length <= width)) return lines;
  const least = Math.min(...worths);
  return fittingTable(
    columns.filter(({ worth }) => worth !== least),
    width,
  );
}

function linesOf(columns: readonly TableColumn[]): readonly string[] {
  const rows = (columns[0]?.cells ?? []).map((_, at) => columns.map(({ cells }) => cells[at] ?? ""));
  const right = columns.flatMap(({ isRight }, at) => (isRight ? at : []));
  return alignedLines([columns.map(({ head }) => head), ...rows], right);
}
