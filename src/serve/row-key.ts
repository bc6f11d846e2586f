/** The first three columns of a row of chunks or child chunks. `id` is the chunk's; of a child chunk, its parent's. */
export interface RowKey {
  readonly dataset: string;
  readonly document: string;
  readonly id: string;
}

/** A line that is no row of its kind; the message says why. */
export class RowError extends Error {
  override readonly name = "RowError";
}

/** The column that, with dataset and document, tells which rows stand together. */
export type IdColumn = "id" | "segment_id";

const string = String.raw`("(?:[^"\\]|\\.)*")`;
const start = new RegExp(`^\\{"dataset_id":${string},"document_id":${string},"(?:id|segment_id)":${string},`);

/** Bytes that hold the first three columns of nearly every row. */
const enough = 400;

/** The key of a line of JSONL. Only its beginning is looked at where that is as kbdump writes it. RowError when it has none. */
export function rowKey(line: Buffer, idColumn: IdColumn): RowKey {
  const found = start.exec(line.toString("utf8", 0, enough));
  if (found) {
    const [, dataset = "", document = "", id = ""] = found;
    return { dataset: textOf(dataset), document: textOf(document), id: textOf(id) };
  }
  return keyOfWhole(line.toString("utf8"), idColumn);
}

function textOf(json: string): string {
  return json.includes("\\") ? String(JSON.parse(json)) : json.slice(1, -1);
}

function keyOfWhole(line: string, idColumn: IdColumn): RowKey {
  const row = objectFrom(line);
  const { dataset_id: dataset, document_id: document, [idColumn]: id } = row;
  if (typeof dataset === "string" && typeof document === "string" && typeof id === "string") {
    return { dataset, document, id };
  }
  throw new RowError(`has no dataset_id, document_id and ${idColumn}`);
}

function objectFrom(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // said below
  }
  throw new RowError("is no JSON object");
}
