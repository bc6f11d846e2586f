import type { Connection } from "../../duckdb/open-duckdb.js";
import type { DocumentId } from "../document-rows.js";
import { ofDocument } from "../load-document-rows.js";

/** The values that a chunk had when a run first saw it under its id; only of what a person changed since. */
export interface FirstValues {
  readonly content?: string;
  readonly answer?: string | null;
  readonly keywords?: readonly string[] | null;
  readonly enabled?: boolean;
}

/** All that the job's database knows of the work of people on one document, up to a run. */
export interface DocumentHistory {
  /** By the id of the chunk at that run. */
  readonly chunks: ReadonlyMap<string, FirstValues>;
  /** The first contents of edited child chunks, by id. */
  readonly children: ReadonlyMap<string, string>;
  /** Ids of chunks that a person added. */
  readonly added: ReadonlySet<string>;
}

/** The history where there is none. */
export const noHistory: DocumentHistory = { chunks: new Map(), children: new Map(), added: new Set() };

/** Reads the history of one document from the tables that `loadHistory` made. */
export async function readDocumentHistory(connection: Connection, document: DocumentId): Promise<DocumentHistory> {
  const read = async (columns: string, table: string) => {
    const sql = `SELECT ${columns} FROM ${table} WHERE ${ofDocument(document)}`;
    return (await connection.runAndReadAll(sql)).getRowsJson().map((row) => row.map((cell) => textOf(cell)));
  };
  // Texts as JSON: the client takes a byte order mark off the start of a text.
  const values = "id, to_json(struct_pack(had, content, answer, keywords, enabled))::VARCHAR";
  const chunks = await read(values, "hand_chunks");
  const children = await read("id, to_json(coalesce(content, ''))::VARCHAR", "hand_children");
  const added = await read("id", "added_chunks");
  return {
    chunks: new Map(chunks.map(([id = "", json = ""]) => [id, firstValues(json)])),
    children: new Map(children.map(([id = "", json = ""]) => [id, textOf(JSON.parse(json))])),
    added: new Set(added.map(([id = ""]) => id)),
  };
}

function firstValues(json: string): FirstValues {
  const row: { readonly [name: string]: unknown } = JSON.parse(json);
  const had: readonly unknown[] = Array.isArray(row.had) ? row.had : [];
  const { content, answer, keywords, enabled } = row;
  return {
    ...(had.includes("content") ? { content: textOf(content) } : {}),
    ...(had.includes("answer") ? { answer: typeof answer === "string" ? answer : null } : {}),
    ...(had.includes("keywords") ? { keywords: Array.isArray(keywords) ? keywords.filter(isText) : null } : {}),
    ...(had.includes("enabled") ? { enabled: enabled !== false } : {}),
  };
}

const isText = (value: unknown) => typeof value === "string";
const textOf = (value: unknown) => (isText(value) ? value : "");
