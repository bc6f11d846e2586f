import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/rows-of.js";
import { countsSql } from "./changes-sql.js";
import { type DocumentPair, isOtherDocument } from "./compare-documents.js";
import type { Names } from "./read-names.js";
import type { ChangeCounts, DocumentCounts, DocumentDiff, DocumentState } from "./run-diff.js";

const countNames = ["added", "removed", "changed", "moved", "unchanged", "fields", "lost", "lost_by_hand"] as const;

/** Counts the changes of every document, from the tables of the comparison. */
export async function diffDocuments(
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
export function sumOf(counts: readonly ChangeCounts[]): ChangeCounts {
  const sum = (name: (typeof countNames)[number]) => counts.reduce((all, each) => all + each[name], 0);
  return countsFrom(Object.fromEntries(countNames.map((name) => [name, sum(name)])));
}

export function documentCounts(documents: readonly DocumentDiff[]): DocumentCounts {
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
export function statusOf(pairs: readonly DocumentPair[], documents: readonly DocumentDiff[]): "same" | "different" {
  const isDifferent = pairs.some(isOtherDocument) || documents.some(({ state }) => state === "different");
  return isDifferent ? "different" : "same";
}
