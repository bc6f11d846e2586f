import type { Connection } from "../duckdb/open-duckdb.js";
import { withSpill } from "../duckdb/with-spill.js";
import { matchRows } from "../match/match-rows.js";
import { changedSql, changesSql, documentFacts, reorderedSql } from "./changes-sql.js";
import { compareDocuments, type DocumentPair } from "./compare-documents.js";
import { diffDocuments, documentCounts, statusOf, sumOf } from "./count-changes.js";
import { type DiffOptions, type DiffSetting, withDiffDefaults } from "./diff-options.js";
import { type Comparison, checkSources, loadDocuments, loadFacts, type RunSources } from "./load-runs.js";
import { type Changes, readChanges, readFirst } from "./read-changes.js";
import { readNames } from "./read-names.js";
import { type ReadRun, readRun } from "./read-run.js";
import type { DiffedRun, RunDiff } from "./run-diff.js";
import { loadTexts } from "./texts.js";
import { isGuarded, readsChildren, warningsOf } from "./warnings.js";

/**
 * Compares two run folders, of whatever format, matching chunks across a re-index. Rejects with UsageError when a path is no
 * run folder, with StopError when the files in one are not those that its run wrote, and with the reason of `options.signal`.
 */
export async function diffRuns(old: string, fresh: string, options: DiffOptions = {}): Promise<RunDiff> {
  const { onChange } = options;
  return withRunDiff(old, fresh, options, async (diff, changes) => {
    if (onChange) for await (const change of changes.all()) await onChange(change);
    return diff;
  });
}

/** The same, for who wants to know what it came to before the changes are told; they can be read while `work` goes on. */
export async function withRunDiff<T>(
  old: string,
  fresh: string,
  options: DiffOptions,
  work: (diff: RunDiff, changes: Changes) => Promise<T>,
): Promise<T> {
  const setting = withDiffDefaults(options);
  const runs = [await readRun(old), await readRun(fresh)] as const;
  const documents = compareDocuments(runs[0].dump.manifest.documents, runs[1].dump.manifest.documents);
  const children = runs.every(({ dump }) => readsChildren(dump.manifest));
  const comparison = { documents, children, unguarded: runs.some(isGuarded) };
  const sources = await checkBoth(runs, setting);
  return withSpill(":memory:", setting, async (connection) => {
    await compareRows(connection, sources, comparison, setting);
    const diff = await runDiff(connection, runs, documents);
    const { chunks, child_chunks: children } = diff.counts;
    const isSome =
      chunks.changed + children.changed > 0 && (setting.text !== "lost" || chunks.lost + children.lost > 0);
    const texts = isSome ? setting.text : false;
    if (texts) {
      setting.tally.step = "reading changed texts";
      await loadTexts(connection, ...sources, comparison, texts === "lost");
    }
    setting.tally.step = "writing the result";
    setting.signal.throwIfAborted();
    return work(diff, {
      all: () => readChanges(connection, texts === true),
      first: (selection, most) =>
        readFirst(
          connection,
          texts === true || (texts === "lost" && selection !== "others but moved"),
          selection,
          most,
        ),
    });
  });
}

async function checkBoth(
  [old, fresh]: readonly [ReadRun, ReadRun],
  setting: DiffSetting,
): Promise<readonly [RunSources, RunSources]> {
  const bytes = [old, fresh].flatMap(({ chunks, childChunks }) => [chunks.bytes, childChunks.bytes]);
  setting.tally.expected = 4 * bytes.reduce((sum, each) => sum + each, 0); // once to hash, two to read, one to match
  return [await checkSources("old", old, setting), await checkSources("new", fresh, setting)];
}

/** Makes the tables that tell what differs: `matched_chunks`, `matched_child_chunks`, `reindexed`, `reordered` and `changes`. */
async function compareRows(
  connection: Connection,
  sources: readonly [RunSources, RunSources],
  comparison: Comparison,
  { tally, signal }: DiffSetting,
): Promise<void> {
  await loadDocuments(connection, comparison.documents);
  for (const side of sources) {
    for (const kind of ["chunks", "child_chunks"] as const) {
      signal.throwIfAborted();
      const file = kind === "chunks" ? side.run.chunks : side.run.childChunks;
      tally.step = `reading ${file.path} of the ${side.side} run`;
      await loadFacts(connection, kind, side, comparison);
      tally.done += 2 * file.bytes;
    }
  }
  tally.step = "matching";
  const tables = (kind: string) => ({ before: `old_${kind}`, after: `new_${kind}`, into: `matched_${kind}` });
  for (const sql of [
    matchRows("chunks", { ...tables("chunks"), fingerprinted: true }),
    matchRows("child_chunks", { ...tables("child_chunks"), fingerprinted: true, parents: "matched_chunks" }),
    ...documentFacts,
    changedSql("chunks"),
    changedSql("child_chunks"),
    reorderedSql,
    ...changesSql,
  ]) {
    signal.throwIfAborted();
    await connection.run(sql);
  }
  tally.done = tally.expected;
}

async function runDiff(
  connection: Connection,
  [old, fresh]: readonly [ReadRun, ReadRun],
  pairs: readonly DocumentPair[],
): Promise<RunDiff> {
  const documents = await diffDocuments(connection, pairs, await readNames(connection, [old, fresh]));
  return {
    status: statusOf(pairs, documents),
    old: diffedRun(old),
    new: diffedRun(fresh),
    counts: {
      documents: documentCounts(documents),
      chunks: sumOf(documents.map(({ chunks }) => chunks)),
      child_chunks: sumOf(documents.map(({ child_chunks }) => child_chunks)),
    },
    documents,
    warnings: warningsOf(old, fresh),
  };
}

function diffedRun({ dump, format, chunks, childChunks }: ReadRun): DiffedRun {
  const { folder, manifest } = dump;
  const { job, run_id } = manifest;
  return { folder, job, run_id, format, chunks: chunks.rows, child_chunks: childChunks.rows };
}
