import type { ChildRow, ChunkRow } from "./document-rows.js";

/** A chunk from the JSON text of its columns. A column without a value is as empty as the service shows it. */
export function chunkFromJson(json: string): ChunkRow {
  const row = membersOf(JSON.parse(json));
  return {
    id: textOf(row.id) ?? "",
    document_id: textOf(row.document_id) ?? "",
    position: numberOf(row.position),
    content: textOf(row.content) ?? "",
    answer: textOf(row.answer),
    keywords: Array.isArray(row.keywords) ? row.keywords.filter((word) => typeof word === "string") : null,
    enabled: row.enabled !== false,
    status: textOf(row.status),
    updated_by: textOf(row.updated_by) || null,
    disabled_by: textOf(row.disabled_by) || null,
    created_at: numberOf(row.created_at),
    attachment_ids: attachmentIds(textOf(row.attachments)),
    summary: summaryOf(textOf(row.summary)),
  };
}

/** A child chunk from the JSON text of its columns. */
export function childFromJson(json: string): ChildRow {
  const row = membersOf(JSON.parse(json));
  return {
    id: textOf(row.id) ?? "",
    segment_id: textOf(row.segment_id) ?? "",
    position: numberOf(row.position),
    content: textOf(row.content) ?? "",
    type: textOf(row.type),
  };
}

function attachmentIds(json: string | null): readonly string[] {
  const list: unknown = json === null ? [] : JSON.parse(json);
  if (!Array.isArray(list)) return [];
  return list.map((each: unknown) => textOf(membersOf(each).id)).filter((id) => id !== null);
}

/** Nothing is nothing, whether null, "", [] or {}. */
function summaryOf(text: string | null): string | null {
  return text === null || /^(\{\}|\[\])?$/.test(text) ? null : text;
}

/** The members of an object by name; none of anything else. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

const textOf = (value: unknown) => (typeof value === "string" ? value : null);
const numberOf = (value: unknown) => (typeof value === "number" ? value : null);
