import { readTextPieces } from "../dump/files/read-pieces.js";
import { splitLines } from "../dump/files/split-lines.js";
import type { DumpTable } from "../dump/manifest/tables.js";
import type { CheckedTable } from "../dump/open-dump.js";
import type { Kind } from "../rows/columns.js";
import { documentKey } from "../rows/document-row.js";
import type { DocumentList } from "../run/discover/document-list.js";
import { shardOf } from "../run/discover/shard-of.js";
import { isMapping } from "../schema.js";
import { countOf } from "../words.js";
import type { ShardDump } from "./shard-dump.js";

type Fields = Readonly<Record<string, unknown>>;

/** The rows that a shard is to have of a kind. */
interface Share {
  readonly has: (row: Fields) => boolean;
  /** No two rows have the same; undefined where rows have no id of their own. */
  readonly keyOf: ((row: Fields) => string) | undefined;
  /** The keys of rows that must be there. */
  readonly required: readonly string[];
}

/**
 * Proves that a table, other than chunks and child chunks, has the rows of this shard's documents or datasets alone, each once, and one
 * of each document that was listed. Rejects with UnsoundError where it has not.
 */
export async function checkTable(
  shard: ShardDump,
  list: DocumentList,
  { kind, path, rows }: DumpTable,
  { paths }: CheckedTable,
  signal: AbortSignal,
): Promise<void> {
  const refuse = (reason: string) => shard.dump.unsound(`${path}: ${reason}`);
  const { has, keyOf, required } = shareOf(kind, shard, list);
  const seen = new Set<string>();
  let read = 0;
  for (const file of paths)
    for await (const lines of splitLines(readTextPieces(file))) {
      signal.throwIfAborted();
      for (const line of lines) {
        const row = fieldsOf(line);
        read++;
        if (!row || !has(row)) throw refuse(`row ${read} is not one of this shard`);
        const key = keyOf?.(row);
        if (key !== undefined && seen.has(key)) throw refuse(`row ${read} is there twice`);
        if (key !== undefined) seen.add(key);
      }
    }
  const missing = required.find((key) => !seen.has(key));
  if (missing !== undefined) throw refuse(`has no row of document ${JSON.parse(missing)[1]}`);
  if (read !== rows) throw refuse(`has ${countOf(read, "row")}, and the manifest says ${rows}`);
}

function shareOf(kind: Kind, { dump, shard }: ShardDump, list: DocumentList): Share {
  const { documents } = dump.manifest;
  const listed = new Set(list.datasets.filter(({ state }) => state !== "named").map(({ dataset_id: id }) => id));
  const ofDocuments = (keys: readonly string[], required: readonly string[]): Share => {
    const own = new Set(keys);
    return { has: (row) => own.has(documentKey(row)), keyOf: documentKey, required };
  };
  const ofDatasets = (keyOf: Share["keyOf"]): Share => {
    const { index, count } = shard;
    const own = new Set(list.datasets.map(({ dataset_id: id }) => id).filter((id) => shardOf(id, "", count) === index));
    return { has: ({ dataset_id: id }) => typeof id === "string" && own.has(id), keyOf, required: [] };
  };
  switch (kind) {
    case "document_info": {
      const keys = documents.filter(({ dataset_id: id }) => listed.has(id)).map(documentKey);
      return ofDocuments(keys, keys);
    }
    case "datasets":
      return ofDatasets(({ dataset_id: id }) => String(id));
    case "metadata_fields":
      return ofDatasets(({ dataset_id: id, position }) => JSON.stringify([id, position]));
    case "indexing_status":
      return ofDatasets(undefined);
    default: {
      const keys = documents.map(documentKey);
      return ofDocuments(keys, kind === "documents" ? keys : []);
    }
  }
}

/** The row in a line; undefined where it holds none. */
function fieldsOf(line: Buffer): Fields | undefined {
  try {
    const row: unknown = JSON.parse(line.toString("utf8"));
    return isMapping(row) ? row : undefined;
  } catch {
    return undefined;
  }
}
