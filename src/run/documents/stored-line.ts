/** The cells of a stored row that a sweep compares, as JSON text. */
export interface StoredCells {
  readonly id: string;
  readonly content: string;
  /** The answer of a chunk. */
  readonly answer?: string;
  /** The parent of a child chunk. */
  readonly segmentId?: string;
}

/**
 * Finds the cells of a chunk or a child chunk in its line of JSONL, in a tenth of the time that parsing the line takes. A
 * string cannot hold the name of a column with its quotes, since they have backslashes there, and no column before these
 * holds an object.
 */
export function cellsOf(kind: "chunks" | "child_chunks", line: string): StoredCells {
  if (kind === "child_chunks") {
    const segmentId = cellBetween(line, '"segment_id":', ',"id":', 0);
    const id = cellBetween(line, '"id":', ',"position":', segmentId.end);
    const content = cellBetween(line, '"content":', ',"word_count":', id.end);
    return { id: id.text, content: content.text, segmentId: segmentId.text };
  }
  const id = cellBetween(line, '"id":', ',"position":', 0);
  const content = cellBetween(line, '"content":', ',"answer":', id.end);
  const answer = cellBetween(line, '"answer":', ',"word_count":', content.end);
  return { id: id.text, content: content.text, answer: answer.text };
}

/** The text between a name and the next one, from a place on. */
function cellBetween(line: string, name: string, next: string, from: number): { text: string; end: number } {
  const start = line.indexOf(name, from) + name.length;
  const end = line.indexOf(next, start);
  if (start < name.length || end < 0) throw new Error("a line of a part that kbdump did not write");
  return { text: line.slice(start, end), end };
}
