import { type Connection, withSpill } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import { historyOf } from "../dump/open-dump.js";
import { changedSql, changesSql, countsSql, reorderedSql } from "./changes-sql.js";
import { type ComparedRuns, compareRuns } from "./compare-runs.js";
import type { ChangeCounts, DiffedRun, DocumentCounts, DocumentDiff, DocumentState, RunDiff } from "./diff-result.js";
import { contentSql, textSql } from "./facts-sql.js";
import type { Comparison, RunSources } from "./load-facts.js";
import type { MatchedKind } from "./pair.js";
import { type Changes, countReplaced, readChanges, readFirst } from "./read-changes.js";
import {
  type DiffContext,
  type DiffOptions,
  type DocumentPair,
  isOtherDocument,
  type Names,
  namesReader,
  type ReadRun,
  readRun,
  warningsOf,
  withDiffDefaults,
} from "./runs-to-compare.js";

/**
 * Compares two run folders of any format, matching chunks across a re-index. Rejects with UsageError if a path is not a
 * run folder, with StopError if a file differs from its manifest, and with the reason of `options.signal`.
 */
export async function diffRuns(old: string, fresh: string, options: DiffOptions = {}): Promise<RunDiff> {
  const { onChange } = options;
  return withRunDiff(old, fresh, options, async (diff, changes) => {
    if (onChange) for await (const change of changes.all()) await onChange(change);
    return diff;
  });
}

/** Like `diffRuns`, but passes the result to `work`, which can read the changes until it ends. */
export async function withRunDiff<T>(
  old: string,
  fresh: string,
  options: DiffOptions,
  work: (diff: RunDiff, changes: Changes, rows: { connection: Connection; compared: ComparedRuns }) => Promise<T>,
): Promise<T> {
  const runs = [await readRun(old), await readRun(fresh)] as const;
  const { database = (await historyOf(runs[0].dump)) ?? null } = options;
  const context = withDiffDefaults({ ...options, database });
  return withSpill(":memory:", context, async (connection) => {
    const compared = await compareRuns(connection, runs, context);
    const { sources, comparison, warnings } = compared;
    await findChanges(connection, context);
    const found = await runDiff(connection, runs, comparison.documents);
    const diff = { ...found, warnings: [...found.warnings, ...warnings] };
    const { chunks, child_chunks: children } = diff.counts;
    const isSome = chunks.changed + children.changed > 0 && (context.text !== "lost" || diff.lost > 0);
    const texts = isSome ? context.text : false;
    if (texts) {
      context.progress.step = "reading changed texts";
      await loadTexts(connection, ...sources, comparison, texts === "lost");
    }
    context.progress.step = "writing the result";
    context.signal.throwIfAborted();
    const read: Changes = {
      replaced: await countReplaced(connection),
      all: () => readChanges(connection, texts === true),
      first: (selection, most) =>
        readFirst(
          connection,
          texts === true || (texts === "lost" && selection !== "others but moved"),
          selection,
          most,
        ),
    };
    return work(diff, read, { connection, compared });
  });
}

/** Makes the tables of the differences: `reordered` and `changes`. */
async function findChanges(connection: Connection, { progress, signal }: DiffContext): Promise<void> {
  for (const sql of [changedSql("chunks"), changedSql("child_chunks"), reorderedSql, ...changesSql]) {
    signal.throwIfAborted();
    await connection.run(sql);
  }
  progress.done = progress.expected;
}

async function runDiff(
  connection: Connection,
  [old, fresh]: readonly [ReadRun, ReadRun],
  pairs: readonly DocumentPair[],
): Promise<RunDiff> {
  const documents = await diffDocuments(connection, pairs, await namesReader(connection, [old, fresh]));
  return {
    status: statusOf(pairs, documents),
    lost: sumOf(documents.flatMap(({ chunks, child_chunks }) => [chunks, child_chunks])).lost,
    manual_edits: sumOf(documents.flatMap(({ chunks, child_chunks }) => [chunks, child_chunks])).manual_edits,
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

const countNames = ["added", "removed", "changed", "moved", "unchanged", "fields", "lost", "manual_edits"] as const;

/** Counts each document's changes from the comparison tables. */
async function diffDocuments(
  connection: Connection,
  pairs: readonly DocumentPair[],
  namesOf: (pair: DocumentPair) => Names,
): Promise<readonly DocumentDiff[]> {
  const chunks = await rowsOf(connection, countsSql("chunks"));
  const children = await rowsOf(connection, countsSql("child_chunks"));
  return pairs.map((pair, nr) => documentDiff(pair, namesOf(pair), chunks[nr], children[nr]));
}

function documentDiff(
  pair: DocumentPair,
  { dataset_name, document_name }: Names,
  ofChunks: SqlRow | undefined,
  ofChildren: SqlRow | undefined,
): DocumentDiff {
  const [chunks, child_chunks] = [countsFrom(ofChunks), countsFrom(ofChildren)];
  const { dataset_id, document_id, reason } = pair;
  const state = stateOf(pair, differs(chunks) || differs(child_chunks));
  const facts = { reindexed: ofChunks?.reindexed === true, reordered: ofChunks?.reordered === true };
  const names = { dataset_id, dataset_name, document_id, document_name };
  return { ...names, state, ...facts, reason, chunks, child_chunks };
}

function stateOf({ old, new: fresh, reason }: DocumentPair, different: boolean): DocumentState {
  if (!old) return "added";
  if (!fresh) return "removed";
  if (reason !== null) return "not_compared";
  return different ? "different" : "same";
}

function countsFrom(row: SqlRow | undefined): ChangeCounts {
  const count = (name: (typeof countNames)[number]) => Number(row?.[name] ?? 0);
  return {
    added: count("added"),
    removed: count("removed"),
    changed: count("changed"),
    moved: count("moved"),
    unchanged: count("unchanged"),
    fields: count("fields"),
    lost: count("lost"),
    manual_edits: count("manual_edits"),
  };
}

/** Whether rows differ in anything but their ids. */
function differs({ added, removed, changed, moved, fields }: ChangeCounts): boolean {
  return added + removed + changed + moved + fields > 0;
}

/** Adds up the counts of all documents. */
function sumOf(counts: readonly ChangeCounts[]): ChangeCounts {
  const sum = (name: (typeof countNames)[number]) => counts.reduce((all, each) => all + each[name], 0);
  return countsFrom(Object.fromEntries(countNames.map((name) => [name, sum(name)])));
}

function documentCounts(documents: readonly DocumentDiff[]): DocumentCounts {
  const count = (state: DocumentState) => documents.filter((document) => document.state === state).length;
  return {
    same: count("same"),
    different: count("different"),
    removed: count("removed"),
    added: count("added"),
    not_compared: count("not_compared"),
    reindexed: documents.filter(({ reindexed }) => reindexed).length,
  };
}

/** Whether two runs differ: in a compared row, or in the documents that exist and that they could read. */
function statusOf(pairs: readonly DocumentPair[], documents: readonly DocumentDiff[]): "same" | "different" {
  const isDifferent = pairs.some(isOtherDocument) || documents.some(({ state }) => state === "different");
  return isDifferent ? "different" : "same";
}

/** Maximum characters of a text to compare word by word; the rest is left out. */
const longest = 1_000_000;

/**
 * Makes the table `texts`: old and new content and answer, by the number of the change. Covers every content change, or with `onlyLost`
 * those that a re-index lost. Reads the files a second time, because only now is it known which texts are needed.
 */
async function loadTexts(
  connection: Connection,
  olds: RunSources,
  news: RunSources,
  comparison: Comparison,
  onlyLost: boolean,
): Promise<void> {
  const changed = `kind = 'changed'${onlyLost ? " AND lost" : ""}`;
  for (const sources of [olds, news]) {
    const { side, run } = sources;
    await connection.run(`CREATE TABLE ${side}_texts
      (level VARCHAR, dataset_id VARCHAR, document_id VARCHAR, segment_id VARCHAR, id VARCHAR, fingerprint UUID,
      content VARCHAR, answer VARCHAR)`);
    for (const kind of comparison.children ? (["chunks", "child_chunks"] as const) : (["chunks"] as const)) {
      await connection.run(textsSql(kind, sources, comparison.unguarded, changed)).catch((error: unknown) => {
        throw run.dump.unreadable(sources[kind], error);
      });
    }
  }
  await connection.run(`CREATE TABLE texts AS
    SELECT n, o.content AS old_content, a.content AS new_content, o.answer AS old_answer, a.answer AS new_answer
    FROM changes c JOIN ${onceOnly("old")} o ON ${isOf("old", "o")} JOIN ${onceOnly("new")} a ON ${isOf("new", "a")}
    WHERE ${changed} ORDER BY n`);
}

/** SQL: adds the texts of one file to `<side>_texts`, each with a character in front, because the client strips a byte order mark. */
function textsSql(kind: MatchedKind, { side, ...sources }: RunSources, unguarded: boolean, changed: string): string {
  const [level, segment, answer] =
    kind === "chunks" ? ["chunk", "NULL", `'x' || left(answer, ${longest})`] : ["child_chunk", "segment_id", "NULL"];
  const wanted = `(SELECT dataset_id, document_id, ${side}_segment_id AS segment, ${side}_id AS wanted_id, ${side}_fingerprint AS fingerprint
    FROM changes WHERE ${changed} AND level = '${level}')`;
  return `INSERT INTO ${side}_texts
    SELECT '${level}', dataset_id, document_id, ${segment}, id, ${kind === "chunks" ? textSql("content", "answer") : textSql("content")} AS fingerprint,
      'x' || left(content, ${longest}), ${answer}
    FROM ${contentSql(kind, sources[kind].sql, unguarded)} s
    SEMI JOIN ${wanted} w ON w.dataset_id = s.dataset_id AND w.document_id = s.document_id AND w.wanted_id = s.id
      ${kind === "chunks" ? "" : "AND w.segment = s.segment_id"}`;
}

/** SQL: the texts of a side, without duplicate rows. */
function onceOnly(side: "old" | "new"): string {
  return `(FROM ${side}_texts WHERE rowid IN (SELECT min(rowid) FROM ${side}_texts
    GROUP BY level, dataset_id, document_id, segment_id, id, fingerprint))`;
}

/** SQL: whether a text belongs to a change. */
function isOf(side: "old" | "new", name: string): string {
  return `${name}.level = c.level AND ${name}.dataset_id = c.dataset_id AND ${name}.document_id = c.document_id
    AND ${name}.id = c.${side}_id AND ${name}.fingerprint = c.${side}_fingerprint
    AND ${name}.segment_id IS NOT DISTINCT FROM c.${side}_segment_id`;
}
