import { type Connection, withSpill } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import { checkRows } from "../dump/load.js";
import { fingerprintSql, type MatchedKind, matchRows } from "../rows/match-rows.js";
import { documentKey } from "../rows/row.js";
import { changedSql, changesSql, contentSql, countsSql, documentFacts, reorderedSql } from "./changes-sql.js";
import type { ChangeCounts, DiffedRun, DocumentCounts, DocumentDiff, DocumentState, RunDiff } from "./diff-result.js";
import { type Comparison, checkSources, loadDocuments, loadFacts, type RunSources } from "./load-runs.js";
import { type Changes, readChanges, readFirst } from "./read-changes.js";
import {
  compareDocuments,
  type DiffContext,
  type DiffOptions,
  type DocumentPair,
  isGuarded,
  isOtherDocument,
  type ReadRun,
  readRun,
  readsChildren,
  warningsOf,
  withDiffDefaults,
} from "./run-diff.js";

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
  const context = withDiffDefaults(options);
  const runs = [await readRun(old), await readRun(fresh)] as const;
  const documents = compareDocuments(runs[0].dump.manifest.documents, runs[1].dump.manifest.documents);
  const children = runs.every(({ dump }) => readsChildren(dump.manifest));
  const comparison = { documents, children, unguarded: runs.some(isGuarded) };
  const sources = await checkBoth(runs, context);
  return withSpill(":memory:", context, async (connection) => {
    await compareRows(connection, sources, comparison, context);
    const diff = await runDiff(connection, runs, documents);
    const { chunks, child_chunks: children } = diff.counts;
    const isSome =
      chunks.changed + children.changed > 0 && (context.text !== "lost" || chunks.lost + children.lost > 0);
    const texts = isSome ? context.text : false;
    if (texts) {
      context.progress.step = "reading changed texts";
      await loadTexts(connection, ...sources, comparison, texts === "lost");
    }
    context.progress.step = "writing the result";
    context.signal.throwIfAborted();
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
  context: DiffContext,
): Promise<readonly [RunSources, RunSources]> {
  const bytes = [old, fresh].flatMap(({ chunks, childChunks }) => [chunks.bytes, childChunks.bytes]);
  context.progress.expected = 4 * bytes.reduce((sum, each) => sum + each, 0); // once to hash, two to read, one to match
  return [await checkSources("old", old, context), await checkSources("new", fresh, context)];
}

/** Makes the tables that tell what differs: `matched_chunks`, `matched_child_chunks`, `reindexed`, `reordered` and `changes`. */
async function compareRows(
  connection: Connection,
  sources: readonly [RunSources, RunSources],
  comparison: Comparison,
  { progress, signal }: DiffContext,
): Promise<void> {
  await loadDocuments(connection, comparison.documents);
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
  progress.done = progress.expected;
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

const countNames = ["added", "removed", "changed", "moved", "unchanged", "fields", "lost", "lost_by_hand"] as const;

/** Counts the changes of every document, from the tables of the comparison. */
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
    lost_by_hand: count("lost_by_hand"),
  };
}

/** Whether rows differ in anything; new ids alone are no difference. */
function differs({ added, removed, changed, moved, fields }: ChangeCounts): boolean {
  return added + removed + changed + moved + fields > 0;
}

/** The sums of the counts of all documents. */
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

/** Whether two runs differ: in a row that could be compared, or in which documents there are and could be read. */
function statusOf(pairs: readonly DocumentPair[], documents: readonly DocumentDiff[]): "same" | "different" {
  const isDifferent = pairs.some(isOtherDocument) || documents.some(({ state }) => state === "different");
  return isDifferent ? "different" : "same";
}

/** The names of a document and its dataset; null where neither run listed the documents. */
interface Names {
  readonly dataset_name: string | null;
  readonly document_name: string | null;
}

const unknown: Names = { dataset_name: null, document_name: null };

/** Reads the names of all documents; those of a later run win. StopError if a file of names is not as its run wrote it. */
async function readNames(
  connection: Connection,
  runs: readonly ReadRun[],
): Promise<(document: { readonly dataset_id: string; readonly document_id: string }) => Names> {
  const names = new Map<string, Names>();
  for (const { dump } of runs) {
    const [file] = dump.tablesOf(["document_info"], { guarded: true }) ?? [];
    if (!file) continue;
    const rows = await checkRows(dump, file);
    const sql = `SELECT dataset_id, document_id, dataset_name, name FROM ${rows.sql}`;
    for (const { dataset_id, document_id, dataset_name, name } of await rowsOf(connection, sql)) {
      const key = documentKey({ dataset_id: String(dataset_id), document_id: String(document_id) });
      names.set(key, { dataset_name: textOf(dataset_name), document_name: textOf(name) });
    }
  }
  return (document) => names.get(documentKey(document)) ?? unknown;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : null);

/** The most of a text that is compared word by word, in characters; what follows is left out. */
const longest = 1_000_000;

/**
 * Makes the table `texts`: content and answer, old and new, of every change of content, or every one that a re-index lost, by
 * its number. The files are read once
 * more for it, because only now is it known which of the texts are needed.
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

/** SQL: adds the texts of one file to `<side>_texts`. A character stands before each: the client takes a byte order mark off. */
function textsSql(kind: MatchedKind, { side, ...sources }: RunSources, unguarded: boolean, changed: string): string {
  const [level, segment, answer] =
    kind === "chunks" ? ["chunk", "NULL", `'x' || left(answer, ${longest})`] : ["child_chunk", "segment_id", "NULL"];
  const wanted = `(SELECT dataset_id, document_id, ${side}_segment_id AS segment, ${side}_id AS wanted_id, ${side}_fingerprint AS fingerprint
    FROM changes WHERE ${changed} AND level = '${level}')`;
  return `INSERT INTO ${side}_texts
    SELECT '${level}', dataset_id, document_id, ${segment}, id, ${fingerprintSql(kind)} AS fingerprint,
      'x' || left(content, ${longest}), ${answer}
    FROM ${contentSql(kind, sources[kind].sql, unguarded)} s
    SEMI JOIN ${wanted} w ON w.dataset_id = s.dataset_id AND w.document_id = s.document_id AND w.wanted_id = s.id
      ${kind === "chunks" ? "" : "AND w.segment = s.segment_id"}`;
}

/** SQL: the texts of a side, without those of rows that stand there twice. */
function onceOnly(side: "old" | "new"): string {
  return `(FROM ${side}_texts WHERE rowid IN (SELECT min(rowid) FROM ${side}_texts
    GROUP BY level, dataset_id, document_id, segment_id, id, fingerprint))`;
}

/** SQL: whether a text is that of a change. */
function isOf(side: "old" | "new", name: string): string {
  return `${name}.level = c.level AND ${name}.dataset_id = c.dataset_id AND ${name}.document_id = c.document_id
    AND ${name}.id = c.${side}_id AND ${name}.fingerprint = c.${side}_fingerprint
    AND ${name}.segment_id IS NOT DISTINCT FROM c.${side}_segment_id`;
}
