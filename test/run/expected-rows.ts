/**
 * The row that a dump must contain for a record, computed in a second, simpler way: the columns of the format, times as
 * ISO strings, and unknown fields in `extra`, together with times more precise than a millisecond. Known fields of the
 * record must have the right types.
 */

type Fields = Record<string, unknown>;

const chunkFields =
  "id position content answer word_count tokens keywords index_node_id index_node_hash hit_count enabled disabled_at disabled_by status created_by created_at updated_at updated_by indexing_at completed_at error stopped_at sign_content attachments summary".split(
    " ",
  );
const childFields = "id position content word_count type created_at updated_at".split(" ");

export function expectedChunk(datasetId: string, documentId: string, record: object): Fields {
  return expected({ dataset_id: datasetId, document_id: documentId }, chunkFields, { ...record }, ["child_chunks"]);
}

export function expectedChild(datasetId: string, documentId: string, chunkId: string, record: object): Fields {
  return expected(
    { dataset_id: datasetId, document_id: documentId, segment_id: chunkId },
    childFields,
    { ...record },
    [],
  );
}

function expected(known: Fields, fields: readonly string[], record: Fields, left: readonly string[]): Fields {
  const row: Fields = { ...known };
  for (const field of fields) row[field] = field.endsWith("_at") ? time(record[field]) : (record[field] ?? null);
  for (const field of ["sign_content", "attachments"]) if (row[field]) row[field] = unsigned(row[field]);
  const named = new Set([...Object.keys(known), ...fields, ...left]);
  const finer = fields.filter((field) => field.endsWith("_at") && isFiner(record[field]));
  const rest = [
    ...finer.map((field) => [field, record[field]]),
    ...Object.entries(record).filter(([field]) => !named.has(field)),
  ];
  row.extra = rest.length > 0 ? Object.fromEntries(rest) : null;
  return row;
}

function time(seconds: unknown): string | null {
  if (typeof seconds !== "number") return null;
  const [whole, fraction = ""] = String(seconds).split(".");
  const milliseconds = Number(whole) * 1000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
  return new Date(milliseconds).toISOString().replace(".000Z", "Z");
}

function isFiner(seconds: unknown): boolean {
  return /\.\d{4}/.test(String(seconds));
}

function unsigned(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\?timestamp=\d{10}&nonce=[0-9a-f]{32}&sign=[\w-]{43}=/g, ""));
}
