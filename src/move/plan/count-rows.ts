import type { Connection } from "../../duckdb/open-duckdb.js";
import { documentKey } from "../../rows/document-row.js";

/** Counts of the rows of one document. */
export interface RowCounts {
  /** Chunks that come, and those of them that are disabled, or have a summary. */
  readonly chunks: number;
  readonly disabled: number;
  readonly summaries: number;
  /** Chunks that the service refuses. */
  readonly lost_chunks: number;
  /** Child chunks that come, those that the service refuses, and those of chunks that do not come. */
  readonly children: number;
  readonly lost_children: number;
  readonly orphans: number;
  /** Code points of the chunks and child chunks that come. */
  readonly characters: number;
}

/** The counts of a document that has no rows. */
export const noRows: RowCounts = {
  ...{ chunks: 0, disabled: 0, summaries: 0, lost_chunks: 0 },
  ...{ children: 0, lost_children: 0, orphans: 0, characters: 0 },
};

const sql = `
  WITH chunk_counts AS (
    SELECT
      dataset_id, document_id,
      count(*) FILTER (comes) AS chunks,
      count(*) FILTER (comes AND disabled) AS disabled,
      count(*) FILTER (comes AND has_summary) AS summaries,
      count(*) FILTER (NOT comes) AS lost_chunks,
      coalesce(sum(characters) FILTER (comes), 0) AS chunk_characters
    FROM chunk_facts GROUP BY ALL
  ), child_counts AS (
    SELECT
      dataset_id, document_id,
      count(*) FILTER (comes) AS children,
      count(*) FILTER (NOT comes AND NOT is_orphan) AS lost_children,
      count(*) FILTER (is_orphan) AS orphans,
      coalesce(sum(characters) FILTER (comes), 0) AS child_characters
    FROM child_facts GROUP BY ALL
  )
  SELECT
    dataset_id, document_id, chunks, disabled, summaries, lost_chunks,
    coalesce(children, 0), coalesce(lost_children, 0), coalesce(orphans, 0),
    chunk_characters + coalesce(child_characters, 0)
  FROM chunk_counts LEFT JOIN child_counts USING (dataset_id, document_id)`;

/** Counts the rows in the tables of `loadFacts`, by `documentKey`. A document without chunks is not there. */
export async function countRows(connection: Connection): Promise<ReadonlyMap<string, RowCounts>> {
  const found = await connection.runAndReadAll(sql);
  return new Map(
    found.getRowsJson().map(([dataset_id, document_id, ...counts]) => {
      const [chunks = 0, disabled = 0, summaries = 0, lost_chunks = 0, ...ofChildren] = counts.map(Number);
      const [children = 0, lost_children = 0, orphans = 0, characters = 0] = ofChildren;
      const ofChunks = { chunks, disabled, summaries, lost_chunks };
      return [
        documentKey({ dataset_id, document_id }),
        { ...ofChunks, children, lost_children, orphans, characters },
      ] as const;
    }),
  );
}
