import type { ChunkChange, TextDiff } from "../../compare/diff-result.js";
import { isGuarded, type ReadRun } from "../../compare/run-diff.js";
import { type Connection, type SpillOptions, withSpill } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import { checkRows } from "../../dump/load.js";
import type { LostCard, WordPart } from "../lost-facts.js";

/** A lost row, as the older run has it. */
export interface OldRow {
  /** The texts from their beginnings, as words that were removed. */
  readonly content: readonly WordPart[];
  readonly answer: readonly WordPart[];
  /** Who made each manual edit, and when. */
  readonly editors: Readonly<Record<NonNullable<LostCard["edit"]>, Editor>>;
}

interface Editor {
  /** The account, as the service names it; null where it does not say. */
  readonly by: string | null;
  /** Milliseconds since 1970. */
  readonly at: number | null;
}

/** Characters of a text that are read. */
const longest = 2_000;

/** Reads rows of a run, by `rowKey`; of rows with the same ids the first. StopError when a file is not as its run wrote it. */
export async function readLostRows(
  run: ReadRun,
  rows: readonly LostRow[],
  options: SpillOptions,
): Promise<ReadonlyMap<string, OldRow>> {
  const found = new Map<string, OldRow>();
  await withSpill(":memory:", options, async (connection) => {
    for (const level of ["chunk", "child_chunk"] as const) {
      const wanted = rows.filter((row) => row.level === level);
      if (wanted.length === 0) continue;
      for (const row of await readRows(connection, run, level, wanted)) {
        const key = rowKey({ ...idsOf(row), level });
        if (!found.has(key)) found.set(key, oldRowFrom(row));
      }
    }
  });
  return found;
}

/** The columns of each level that differ. */
const own = {
  chunk: `NULL AS segment_id, answer, created_by, updated_by, disabled_by, epoch_ms(disabled_at) AS disabled_at`,
  child_chunk: `segment_id, NULL AS answer, NULL AS created_by, NULL AS updated_by, NULL AS disabled_by, NULL AS disabled_at`,
};

async function readRows(
  connection: Connection,
  run: ReadRun,
  level: LostRow["level"],
  wanted: readonly LostRow[],
): Promise<readonly SqlRow[]> {
  const file = level === "chunk" ? run.chunks : run.childChunks;
  const rows = await checkRows(run.dump, file, { exact: false, unguarded: isGuarded(run) });
  const ids = wanted.map(
    ({ dataset_id, document_id, id }) => `(${[dataset_id, document_id, id].map(sqlText).join(", ")})`,
  );
  const columns = `dataset_id, document_id, id, position, content, epoch_ms(created_at) AS created_at, epoch_ms(updated_at) AS updated_at, ${own[level]}`;
  const sql = `SELECT * REPLACE (${beginning("content")}, ${beginning("answer")}), length(content) AS content_length, length(answer) AS answer_length
    FROM (SELECT ${columns} FROM ${rows.sql} WHERE (dataset_id, document_id, coalesce(id, '')) IN (VALUES ${ids.join(", ")}))
    ORDER BY position NULLS LAST, content, answer`;
  return rowsOf(connection, sql).catch((error: unknown) => {
    throw run.dump.unreadable(file, error);
  });
}

/** SQL: the beginning of a text. A character stands before it: the client takes a byte order mark off. */
function beginning(name: string): string {
  return `'x' || left(${name}, ${longest}) AS ${name}`;
}

function idsOf({ dataset_id, document_id, segment_id, id }: SqlRow) {
  const ids = { dataset_id: String(dataset_id), document_id: String(document_id), id: textOf(id) ?? "" };
  return { ...ids, segment_id: textOf(segment_id) };
}

function oldRowFrom(row: SqlRow): OldRow {
  const added = { by: textOf(row.created_by), at: numberOf(row.created_at) };
  const changedAt = numberOf(row.updated_at) ?? added.at;
  return {
    content: removedWords(row.content, row.content_length),
    answer: removedWords(row.answer, row.answer_length),
    editors: {
      added,
      edited: { by: textOf(row.updated_by), at: changedAt },
      disabled: { by: textOf(row.disabled_by), at: numberOf(row.disabled_at) },
      customized: { by: null, at: changedAt },
    },
  };
}

/** The beginning of a text as one part; `length`: the characters of the whole. */
function removedWords(marked: unknown, length: unknown): readonly WordPart[] {
  const text = (textOf(marked) ?? "").slice(1);
  if (text === "") return [];
  const cut = Math.max(0, Number(length) - longest);
  return [{ kind: "removed", text: cut > 0 ? `${text}…` : text, cut }];
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined || value === "" ? null : String(value);
}

function numberOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** A row of the older run that was lost, and may get a card. */
export interface LostRow extends Pick<LostCard, "level" | "loss" | "position" | "edit"> {
  readonly dataset_id: string;
  readonly document_id: string;
  /** The parent of a child chunk; null for a chunk. */
  readonly segment_id: string | null;
  /** Id in the older run; empty where the service sent none. */
  readonly id: string;
  /** The words that differ, of an edit that was undone. */
  readonly text: TextDiff | undefined;
}

/** The lost row of a change between the two runs. */
export function lostRowFrom(change: ChunkChange): LostRow {
  const { dataset_id, document_id, level, kind, hand_made, old_id, old_segment_id, old_position, text } = change;
  return {
    ...{ dataset_id, document_id, level, id: old_id ?? "", segment_id: old_segment_id, position: old_position },
    ...{ loss: kind === "removed" ? "removed" : "undone", edit: hand_made, text },
  };
}

/** Tells a row of the older run from all others. */
export function rowKey({
  dataset_id,
  document_id,
  level,
  segment_id,
  id,
}: Pick<LostRow, "dataset_id" | "document_id" | "level" | "segment_id" | "id">): string {
  return JSON.stringify([dataset_id, document_id, level, segment_id, id]);
}
