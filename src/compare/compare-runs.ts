import { basename } from "node:path";
import type { Connection } from "../duckdb/open-duckdb.js";
import { guardedJob } from "../dump/run-id.js";
import { readRestored } from "../journal/journal.js";
import type { DocumentId } from "./document-rows.js";
import { type HistoryUse, loadAdditions, loadEdits } from "./history.js";
import {
  type Comparison,
  checkSources,
  comparedDocument,
  detailsOf,
  loadDocuments,
  loadFacts,
  type RunSources,
} from "./load-facts.js";
import { findLosses } from "./losses.js";
import { compareDocuments, type DiffContext, isGuarded, type ReadRun, readsChildren } from "./runs-to-compare.js";

/** Two compared runs. Their rows are in the connection's tables. */
export interface ComparedRuns {
  readonly sources: readonly [RunSources, RunSources];
  readonly comparison: Comparison;
  readonly history: HistoryUse;
  /** A sentence if the job has a history that cannot be used. */
  readonly warnings: readonly string[];
}

/**
 * Compares the rows of two runs by their hashes. This is the one definition of differences, manual edits and losses. Makes the
 * tables `documents`, `old_chunks`, `new_chunks`, `old_child_chunks` and `new_child_chunks` (`factsSql`), `matched_chunks` and
 * `matched_child_chunks` (`pairRows`), `manual_chunks` and `losses`. Keeps only the beginning of each text. `database`: the
 * database of the older run's job, whose history has the text before an edit. `isWanted`: which documents to compare; default: all.
 * Throws StopError if a file differs from the manifest of its run.
 */
export async function compareRuns(
  connection: Connection,
  runs: readonly [ReadRun, ReadRun],
  context: DiffContext,
  isWanted: (document: DocumentId) => boolean = () => true,
): Promise<ComparedRuns> {
  const [old, fresh] = runs;
  const { progress, signal, database } = context;
  const all = compareDocuments(old.dump.manifest.documents, fresh.dump.manifest.documents);
  const documents = all.filter(isWanted);
  const children = runs.every(({ dump }) => readsChildren(dump.manifest));
  const isWhole = documents.length === all.length && documents.every(({ reason }) => reason === null);
  const comparison = { documents, isWhole, children, unguarded: runs.some(isGuarded) };
  const sources = await checkBoth(runs, context);
  const details = [await detailsOf(old.dump), await detailsOf(fresh.dump)] as const;
  await loadDocuments(connection, details, documents.map(comparedDocument));
  const { run_id, job } = old.dump.manifest;
  const isGuards = database !== undefined && guardedJob(job) === basename(database, ".duckdb");
  const [{ chunks, child_chunks }] = sources;
  const backup = { chunks: chunks.sql, child_chunks: child_chunks.sql };
  const history = { run_id, database, ...(isGuards ? { backup } : {}) };
  const warning = await loadEdits(connection, history, signal);
  for (const side of sources) {
    for (const kind of ["chunks", "child_chunks"] as const) {
      signal.throwIfAborted();
      const file = kind === "chunks" ? side.run.chunks : side.run.childChunks;
      progress.step = `reading ${file.path} of the ${side.side} run`;
      await loadFacts(connection, kind, side, comparison);
      progress.done += 2 * file.bytes;
    }
  }
  progress.step = "matching";
  await loadAdditions(connection, history, signal);
  const restored = await readRestored(old.dump.folder);
  await findLosses(connection, signal, restored.rows);
  const use = database === undefined ? "none" : warning === undefined ? "used" : "not used";
  return {
    sources,
    comparison,
    history: use,
    warnings: [...(warning === undefined ? [] : [warning]), ...restored.warnings],
  };
}

async function checkBoth(
  [old, fresh]: readonly [ReadRun, ReadRun],
  context: DiffContext,
): Promise<readonly [RunSources, RunSources]> {
  const bytes = [old, fresh].flatMap(({ chunks, childChunks }) => [chunks.bytes, childChunks.bytes]);
  context.progress.expected = 4 * bytes.reduce((sum, each) => sum + each, 0); // each byte counts four times: once for hashing, twice for reading, once for matching
  return [await checkSources("old", old, context), await checkSources("new", fresh, context)];
}
