import { diffArrays } from "diff";
import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import type { ChangeKind, ChunkChange, ManualEdit, TextDiff, TextPart } from "./diff-result.js";

/** Maximum and minimum rows to read at once: memory stays small, though a text may be a megabyte. */
const page = { most: 1_000, least: 8 };
/** How many bytes of text to read at once. */
const pageBytes = 8_000_000;

/** Reads the changes while their tables exist. */
export interface Changes {
  /** All changes in order. */
  readonly all: () => AsyncGenerator<ChunkChange>;
  readonly first: (selection: ChangeSelection, most: number) => Promise<readonly ChunkChange[]>;
  /** How many lost rows without manual edits have an edited text in their place: a person or a restore replaced them. */
  readonly replaced: number;
}

export async function countReplaced(connection: Connection): Promise<number> {
  const [row] = await rowsOf(
    connection,
    `SELECT count(*) AS rows FROM changes WHERE ${conditions.lost} AND kind = 'changed' AND is_edited_now`,
  );
  return Number(row?.rows);
}

/** The changes in order, with the words that differ if the table `texts` exists. */
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

/** How many rows to read at once, depending on the longest text. */
async function textPage(connection: Connection): Promise<number> {
  const texts = ["old_content", "new_content", "old_answer", "new_answer"].map(
    (name) => `coalesce(strlen(${name}), 0)`,
  );
  const [row] = await rowsOf(connection, `SELECT max(${texts.join(" + ")}) AS longest FROM texts`);
  return Math.min(page.most, Math.max(page.least, Math.floor(pageBytes / Math.max(1, Number(row?.longest ?? 1)))));
}

/** Which changes to read first, if not all of them are wanted. */
export type ChangeSelection = "manual edits" | "lost" | "others but moved";

const conditions: Readonly<Record<ChangeSelection, string>> = {
  "manual edits": "lost AND manual_edit IS NOT NULL",
  lost: "lost AND manual_edit IS NULL",
  "others but moved": "NOT lost AND kind <> 'moved'",
};

/** The first `most` changes of a selection, read in small pages because their texts may be long. */
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
const manualEdits: readonly ManualEdit[] = ["edited", "added", "disabled", "customized"];

function changeFrom(row: SqlRow): ChunkChange {
  const text = textDiff(row);
  return {
    dataset_id: String(row.dataset_id),
    document_id: String(row.document_id),
    level: row.level === "chunk" ? "chunk" : "child_chunk",
    kind: kinds.find((kind) => kind === row.kind) ?? "fields",
    lost: row.lost === true,
    manual_edit: manualEdits.find((edit) => edit === row.manual_edit) ?? null,
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

/** Removes the character that `loadTexts` added in front of a text. */
function marked(value: unknown): string | null {
  return textOf(value)?.slice(1) ?? null;
}

/** Maximum number of differing tokens before a coarser comparison is used, which limits the time per text. */
const mostEdits = 1_000;
/** Maximum characters to split into words, not counting the shared start and end; longer texts are split at white space. */
const mostCharacters = 200_000;
/** Maximum characters of unchanged text to show beside a change, and of the change itself. */
const context = 60;
const longestChange = 1_000;

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/**
 * Compares two texts word by word, in every script. Undefined if they are equal. Long unchanged and very
 * long changed pieces are shortened; texts with little in common are compared line by line, or shown whole.
 */
export function diffText(before: string | null, after: string | null): readonly TextPart[] | undefined {
  if (before === after) return undefined;
  const [old, fresh] = [before ?? "", after ?? ""];
  const start = sameStart(old, fresh);
  const end = sameEnd(old.slice(start), fresh.slice(start));
  const middle = diffMiddle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
  const parts = joined([
    { kind: "same", text: old.slice(0, start) },
    ...middle,
    { kind: "same", text: old.slice(old.length - end) },
  ]);
  return parts.map((part, at) => cutPart(part, at === 0, at === parts.length - 1));
}

interface Piece {
  readonly kind: TextPart["kind"];
  readonly text: string;
}

function diffMiddle(old: string, fresh: string): readonly Piece[] {
  const whole: readonly Piece[] = [
    { kind: "removed", text: old },
    { kind: "added", text: fresh },
  ];
  const isLong = old.length + fresh.length > 2 * mostCharacters;
  const tokensOf = isLong ? phrasesOf : wordsOf;
  return pieces(tokensOf(old), tokensOf(fresh)) ?? pieces(linesOf(old), linesOf(fresh)) ?? whole;
}

/** Compares two lists of words or lines. Undefined if too much differs. */
function pieces(old: readonly string[], fresh: readonly string[]): readonly Piece[] | undefined {
  return diffArrays([...old], [...fresh], { maxEditLength: mostEdits })?.map(({ added, removed, value }) => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value.join(""),
  }));
}

/** Matches a word with the separators after it. Long texts are split here first, because the segmenter takes quadratic time. */
const phrase = /[^\s。、，！？；：]{1,1000}[\s。、，！？；：]{0,100}|[\s。、，！？；：]{1,100}/gu;

function wordsOf(text: string): readonly string[] {
  return phrasesOf(text).flatMap((piece) => Array.from(segmenter.segment(piece), ({ segment }) => segment));
}

function phrasesOf(text: string): readonly string[] {
  return Array.from(text.matchAll(phrase), ([piece]) => piece);
}

function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/);
}

/** Number of characters at the shared start, up to a white space: no word of any script continues after it. */
function sameStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  while (at > 0 && !/\s/.test(one.charAt(at - 1))) at--;
  return at;
}

/** Number of characters at the shared end, after a white space. */
function sameEnd(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one.charCodeAt(one.length - 1 - count) === other.charCodeAt(other.length - 1 - count)) count++;
  while (count > 0 && !/\s/.test(one.charAt(one.length - count))) count--;
  return count;
}

/** Joins adjacent pieces of the same kind and drops empty ones. */
function joined(all: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = [];
  for (const piece of all) {
    const last = result.at(-1);
    if (piece.text === "") continue;
    if (last?.kind === piece.kind) result[result.length - 1] = { ...last, text: last.text + piece.text };
    else result.push(piece);
  }
  return result;
}

function cutPart({ kind, text }: Piece, isFirst: boolean, isLast: boolean): TextPart {
  const [before, after] =
    kind !== "same" ? [longestChange / 2, longestChange / 2] : [isFirst ? 0 : context, isLast ? 0 : context];
  if (text.length <= before + after + context) return { kind, text, cut: 0 };
  const head = text.slice(0, before).toWellFormed();
  const tail = after === 0 ? "" : text.slice(-after).toWellFormed();
  return { kind, text: `${head}…${tail}`, cut: text.length - before - after };
}
