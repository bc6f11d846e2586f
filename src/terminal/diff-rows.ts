import type { ChangeCounts, ChunkChange, DocumentDiff, RunDiff, TextPart } from "../compare/run-diff.js";
import { csvLines } from "../dump/formats/csv.js";
import type { ChangeResult, DiffResult } from "../results/diff.js";
import { markedWords } from "./diff-change.js";
import { jsonLine, terminalText } from "./text.js";

const changeColumns = [
  "dataset_id",
  "document_id",
  "level",
  "kind",
  "lost",
  "hand_made",
  "old_id",
  "new_id",
  "old_segment_id",
  "new_segment_id",
  "old_position",
  "new_position",
  "fields",
  "old_beginning",
  "new_beginning",
] as const;
const countColumns = ["added", "removed", "changed", "moved", "unchanged", "fields", "lost", "lost_by_hand"] as const;
const documentColumns = ["dataset_id", "document_id", "state", "reindexed", "reordered", "reason"] as const;
/** Behind the counts, where they move no column. */
const nameColumns = ["dataset_name", "document_name"] as const;

/** CSV with a row per chunk and child chunk that differs, in pieces; with `text`, what became of their words. */
export async function* csvOfChanges(changes: AsyncIterable<ChunkChange>, text: boolean): AsyncGenerator<string> {
  yield csvLine([...changeColumns, ...(text ? ["content_diff", "answer_diff"] : [])]);
  for await (const change of changes) {
    const cells = changeColumns.map((name) => cellOf(change[name]));
    const texts = text ? [textCell(change.text?.content), textCell(change.text?.answer)] : [];
    yield csvLine([...cells, ...texts]);
  }
}

/** CSV with a row per document, those without a difference, too; in pieces. */
export async function* csvOfDocuments(documents: readonly DocumentDiff[]): AsyncGenerator<string> {
  const kinds = ["chunks", "child_chunks"] as const;
  yield csvLine([
    ...documentColumns,
    ...kinds.flatMap((kind) => countColumns.map((name) => `${kind}_${name}`)),
    ...nameColumns,
  ]);
  const counts = (all: ChangeCounts) => countColumns.map((name) => String(all[name]));
  for (const document of documents) {
    const cells = documentColumns.map((name) => cellOf(document[name]));
    const names = nameColumns.map((name) => cellOf(document[name]));
    yield csvLine([...cells, ...counts(document.chunks), ...counts(document.child_chunks), ...names]);
  }
}

/** One JSON object on one line, in pieces: what it came to, and then the changes, or null for them. */
export async function* jsonOfDiff(
  diff: RunDiff,
  changes: AsyncIterable<ChunkChange> | undefined,
): AsyncGenerator<string> {
  const { documents, ...rest } = diff;
  const head: Omit<DiffResult, "documents" | "changes"> = rest;
  yield `${jsonLine(head).slice(0, -1)},"documents":[`;
  for (const [at, document] of documents.entries()) yield `${at > 0 ? "," : ""}${jsonLine(document)}`;
  yield '],"changes":';
  if (!changes) return yield "null}\n";
  let separator = "[";
  for await (const change of changes) {
    yield `${separator}${jsonLine(changeJson(change))}`;
    separator = ",";
  }
  yield separator === "," ? "]}\n" : "[]}\n";
}

function changeJson({ text, ...change }: ChunkChange): ChangeResult {
  return { ...change, text: text ? { content: text.content ?? null, answer: text.answer ?? null } : null };
}

function cellOf(value: string | number | boolean | null | readonly string[]): string | null {
  if (value === null) return null;
  if (Array.isArray(value)) return value.join(" ");
  return typeof value === "string" ? terminalText(value) : String(value);
}

function textCell(parts: readonly TextPart[] | undefined): string | null {
  return parts
    ? markedWords(parts)
        .map(({ text }) => text)
        .join("")
    : null;
}

function csvLine(cells: readonly (string | null)[]): string {
  return `${csvLines([cells])}\n`;
}
