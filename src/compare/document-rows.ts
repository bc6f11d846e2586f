import { createHash } from "node:crypto";
import type { Dump } from "../dump/open-dump.js";
import { attachmentsIn } from "../rows/row.js";

export interface DocumentId {
  readonly dataset_id: string;
  readonly document_id: string;
}

/** A chunk of a dump, with the columns that a restore needs. */
export interface ChunkRow {
  readonly id: string;
  readonly document_id: string;
  readonly position: number | null;
  readonly content: string;
  readonly answer: string | null;
  readonly keywords: readonly string[] | null;
  readonly enabled: boolean;
  readonly status: string | null;
  readonly created_by: string | null;
  readonly updated_by: string | null;
  readonly disabled_by: string | null;
  /** In Unix seconds. */
  readonly created_at: number | null;
  readonly updated_at: number | null;
  readonly disabled_at: number | null;
  readonly attachment_ids: readonly string[];
  /** Null for a missing or empty summary. */
  readonly summary: string | null;
}

/** A child chunk of a dump, with the columns that a restore needs. */
export interface ChildRow {
  readonly id: string;
  readonly segment_id: string;
  readonly position: number | null;
  readonly content: string;
  /** `automatic`, `customized` or another value of the service. */
  readonly type: string | null;
  /** In Unix seconds. */
  readonly created_at: number | null;
  readonly updated_at: number | null;
}

/** A chunk of a dump with its child chunks, in order. */
export interface ChunkWithChildren extends ChunkRow {
  readonly children: readonly ChildRow[];
}

/** A chunk from the JSON text of its columns. Columns without a value get the service's empty value. */
export function chunkFromJson(json: string): ChunkRow {
  const row = membersOf(JSON.parse(json));
  return {
    id: textIn(row.id) ?? "",
    document_id: textIn(row.document_id) ?? "",
    position: numberIn(row.position),
    content: textIn(row.content) ?? "",
    answer: textIn(row.answer),
    keywords: Array.isArray(row.keywords) ? row.keywords.filter((word) => typeof word === "string") : null,
    enabled: row.enabled !== false,
    status: textIn(row.status),
    created_by: textIn(row.created_by) || null,
    updated_by: textIn(row.updated_by) || null,
    disabled_by: textIn(row.disabled_by) || null,
    created_at: numberIn(row.created_at),
    updated_at: numberIn(row.updated_at),
    disabled_at: numberIn(row.disabled_at),
    attachment_ids: attachmentIds(textIn(row.attachments)),
    summary: summaryOf(textIn(row.summary)),
  };
}

/** A child chunk from the JSON text of its columns. */
export function childFromJson(json: string): ChildRow {
  const row = membersOf(JSON.parse(json));
  return {
    id: textIn(row.id) ?? "",
    segment_id: textIn(row.segment_id) ?? "",
    position: numberIn(row.position),
    content: textIn(row.content) ?? "",
    type: textIn(row.type),
    created_at: numberIn(row.created_at),
    updated_at: numberIn(row.updated_at),
  };
}

/** The ids of attachments, from the list as JSON text. */
export function attachmentIds(json: string | null): readonly string[] {
  return attachmentsIn(JSON.parse(json ?? "[]")).map(({ id }) => id);
}

/** The summary of a chunk; null if there is none: null, "", [] and {} all count as none. */
function summaryOf(text: string | null): string | null {
  return text === null || /^(\{\}|\[\])?$/.test(text) ? null : text;
}

/** The members of an object by name; none for other values. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Returns the value if it is a text, otherwise null. */
export function textIn(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Returns the value if it is a number, otherwise null. */
export function numberIn(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Groups rows by key and keeps their order. */
export function groupRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

type Texts = Pick<ChunkRow, "content" | "answer">;

/** SHA-256 of content and answer, in hex. A missing answer equals an empty one, because services send either. */
export function textsHash({ content, answer }: Texts): string {
  return hashOf([content, answer ?? ""]);
}

export function childHash(content: string): string {
  return hashOf([content]);
}

/** SHA-256 of keywords as a set; null without keywords, because the service then chooses them. */
export function keywordsHash(keywords: readonly string[] | null): string | null {
  return keywords && keywords.length > 0 ? hashOf([...new Set(keywords)].sort()) : null;
}

export function haveSameTexts(one: Texts, other: Texts): boolean {
  return one.content === other.content && (one.answer ?? "") === (other.answer ?? "");
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** Whether two lists have the same members in any order; null counts as empty. */
export function isSameSet(one: readonly string[] | null, other: readonly string[] | null): boolean {
  const [left, right] = [new Set(one), new Set(other)];
  return left.size === right.size && [...left].every((member) => right.has(member));
}

/** Why no file of a dump has the exact texts of the service, and which formats a restore needs. */
export function inexactReason({ manifest }: Dump): string {
  const { csv_safe, formats } = manifest.options.output;
  const needs = "a restore needs jsonl, parquet, or csv without csv_safe";
  if (csv_safe && formats.includes("csv")) return `its texts are not exact: csv_safe changes them; ${needs}`;
  return `its run wrote ${formats.join(", ") || "no files"}; ${needs}`;
}
