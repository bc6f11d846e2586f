import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/rows-of.js";
import { diffText } from "./diff-text.js";
import type { ChangeKind, ChunkChange, HandMade, TextDiff } from "./run-diff.js";

/** Rows that are read at once at the most, and at the least: memory stays small, though a text may be a megabyte. */
const page = { most: 1_000, least: 8 };
/** Bytes of texts that are read at once. */
const pageBytes = 8_000_000;

/** Reads the changes as long as their tables exist. */
export interface Changes {
  /** All of them, in their order. */
  readonly all: () => AsyncGenerator<ChunkChange>;
  readonly first: (selection: ChangeSelection, most: number) => Promise<readonly ChunkChange[]>;
}

/** The changes in their order, with the words of what changed where `texts` was made. */
export async function* readChanges(connection: Connection, text: boolean): AsyncGenerator<ChunkChange> {
  const size = text ? await textPage(connection) : page.most;
  for (let last = 0; ; last += size) {
    const part = (table: string) => `(FROM ${table} WHERE n > ${last} AND n <= ${last + size})`;
    const from = text ? `${part("changes")} LEFT JOIN ${part("texts")} USING (n)` : part("changes");
    const rows = await rowsOf(connection, `FROM ${from} ORDER BY n`);
    for (const row of rows) yield changeFrom(row);
    if (rows.length < size) return;
  }
}

/** How many rows to read at once, by the longest of their texts. */
async function textPage(connection: Connection): Promise<number> {
  const texts = ["old_content", "new_content", "old_answer", "new_answer"].map(
    (name) => `coalesce(strlen(${name}), 0)`,
  );
  const [row] = await rowsOf(connection, `SELECT max(${texts.join(" + ")}) AS longest FROM texts`);
  return Math.min(page.most, Math.max(page.least, Math.floor(pageBytes / Math.max(1, Number(row?.longest ?? 1)))));
}

/** Which changes to read first of all, when not all of them are wanted. */
export type ChangeSelection = "lost by hand" | "lost" | "others but moved";

const conditions: Readonly<Record<ChangeSelection, string>> = {
  "lost by hand": "lost AND hand_made IS NOT NULL",
  lost: "lost AND hand_made IS NULL",
  "others but moved": "NOT lost AND kind <> 'moved'",
};

/** The first changes of a selection, `most` of them; some at a time, as their texts may be long. */
export async function readFirst(
  connection: Connection,
  text: boolean,
  selection: ChangeSelection,
  most: number,
): Promise<readonly ChunkChange[]> {
  const size = Math.min(most, text ? await textPage(connection) : page.most);
  const changes: ChunkChange[] = [];
  while (changes.length < most) {
    const limit = Math.min(size, most - changes.length);
    const part = `(FROM changes WHERE ${conditions[selection]} ORDER BY n LIMIT ${limit} OFFSET ${changes.length})`;
    const rows = await rowsOf(connection, `FROM ${text ? `${part} LEFT JOIN texts USING (n)` : part} ORDER BY n`);
    changes.push(...rows.map(changeFrom));
    if (rows.length < limit) break;
  }
  return changes;
}

const kinds: readonly ChangeKind[] = ["added", "removed", "changed", "moved", "fields"];
const hands: readonly HandMade[] = ["edited", "added", "customized"];

function changeFrom(row: SqlRow): ChunkChange {
  const text = textDiff(row);
  return {
    dataset_id: String(row.dataset_id),
    document_id: String(row.document_id),
    level: row.level === "chunk" ? "chunk" : "child_chunk",
    kind: kinds.find((kind) => kind === row.kind) ?? "fields",
    lost: row.lost === true,
    hand_made: hands.find((hand) => hand === row.hand_made) ?? null,
    old_id: textOf(row.old_id),
    new_id: textOf(row.new_id),
    old_segment_id: textOf(row.old_segment_id),
    new_segment_id: textOf(row.new_segment_id),
    old_position: row.old_position === null ? null : Number(row.old_position),
    new_position: row.new_position === null ? null : Number(row.new_position),
    fields: row.fields === "" ? [] : String(row.fields).split(","),
    old_beginning: marked(row.old_beginning),
    new_beginning: marked(row.new_beginning),
    ...(text && { text }),
  };
}

function textDiff(row: SqlRow): TextDiff | undefined {
  if (row.kind !== "changed" || row.old_content === undefined) return undefined;
  const content = diffText(marked(row.old_content), marked(row.new_content));
  const answer = diffText(marked(row.old_answer), marked(row.new_answer));
  return { ...(content && { content }), ...(answer && { answer }) };
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** A text before which a character was put. */
function marked(value: unknown): string | null {
  return textOf(value)?.slice(1) ?? null;
}
