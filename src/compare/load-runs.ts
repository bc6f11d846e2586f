import type { Connection } from "../duckdb/open-duckdb.js";
import { type CheckedRows, checkRows, loadRows } from "../dump/load.js";
import type { MatchedKind } from "../rows/match-rows.js";
import { contentSql, factsSql } from "./changes-sql.js";
import type { DiffContext, DocumentPair, ReadRun } from "./run-diff.js";

/** The files of one run, whose bytes were checked. */
export interface RunSources {
  readonly side: "old" | "new";
  readonly run: ReadRun;
  readonly chunks: CheckedRows;
  readonly child_chunks: CheckedRows;
}

/** Facts that hold for both runs. */
export interface Comparison {
  readonly documents: readonly DocumentPair[];
  /** Whether `csv_safe` may have put apostrophes before texts of one of them. */
  readonly unguarded: boolean;
  /** Whether both runs read child chunks. */
  readonly children: boolean;
}

/** Reads the bytes of the files of a run. StopError when they are not those that its manifest lists. */
export async function checkSources(
  side: "old" | "new",
  run: ReadRun,
  { signal, progress }: DiffContext,
): Promise<RunSources> {
  const check = (file: ReadRun["chunks"]): Promise<CheckedRows> =>
    checkRows(run.dump, file, { signal, progress, step: `hashing ${file.path} of the ${side} run`, exact: false });
  return { side, run, chunks: await check(run.chunks), child_chunks: await check(run.childChunks) };
}

/** Makes the table `documents`, numbered in their order. */
export async function loadDocuments(connection: Connection, documents: readonly DocumentPair[]): Promise<void> {
  await connection.run(`CREATE TABLE documents
    (nr BIGINT, dataset_id VARCHAR, document_id VARCHAR, compared BOOLEAN)`);
  const appender = await connection.createAppender("documents");
  try {
    for (const [nr, { dataset_id, document_id, reason }] of documents.entries()) {
      appender.appendBigInt(BigInt(nr));
      appender.appendVarchar(dataset_id);
      appender.appendVarchar(document_id);
      appender.appendBoolean(reason === null);
      appender.endRow();
    }
  } finally {
    appender.closeSync();
  }
}

/** Makes the table `<side>_<kind>` of the facts of those rows that can be compared. StopError when the file is not sound. */
export async function loadFacts(
  connection: Connection,
  kind: MatchedKind,
  { side, run, ...sources }: RunSources,
  comparison: Comparison,
): Promise<void> {
  const isCompared = kind === "chunks" || comparison.children;
  const skip = comparison.documents.some(({ reason }) => reason !== null)
    ? "ANTI JOIN (FROM documents WHERE NOT compared) USING (dataset_id, document_id)"
    : "";
  const compared = comparison.documents.filter(({ reason }) => reason === null);
  await loadRows(connection, run.dump, sources[kind], {
    name: `${side}_${kind}`,
    statement: (rows) =>
      `FROM (${factsSql(kind, contentSql(kind, rows, comparison.unguarded))}) ${isCompared ? skip : "LIMIT 0"}`,
    ...(isCompared ? { counted: compared } : {}),
  });
}
