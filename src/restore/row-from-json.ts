import { attachmentsIn } from "../rows/attachments.js";
import type { ChildRow, ChunkRow } from "./document-rows.js";
import { numberIn, textIn } from "./json-fields.js";

/** A chunk from the JSON text of its columns. A column without a value is as empty as the service shows it. */
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
    updated_by: textIn(row.updated_by) || null,
    disabled_by: textIn(row.disabled_by) || null,
    created_at: numberIn(row.created_at),
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
  };
}

/** The ids of attachments from the JSON text of their list. */
export function attachmentIds(json: string | null): readonly string[] {
  return attachmentsIn(JSON.parse(json ?? "[]")).map(({ id }) => id);
}

/** Nothing is nothing, whether null, "", [] or {}. */
function summaryOf(text: string | null): string | null {
  return text === null || /^(\{\}|\[\])?$/.test(text) ? null : text;
}

/** The members of an object by name; none of anything else. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
