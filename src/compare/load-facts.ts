import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/read-rows.js";
import { sqlText } from "../duckdb/sql.js";
import { type CheckedRows, checkRows, loadRows } from "../dump/load.js";
import type { Dump } from "../dump/open-dump.js";
import { jsonText } from "../rows/exact-json.js";
import { documentKey } from "../rows/row.js";
import { membersOf, textIn } from "./document-rows.js";
import { contentSql, factsSql } from "./facts-sql.js";
import type { MatchedKind } from "./pair.js";
import type { DiffContext, DocumentPair, ReadRun } from "./runs-to-compare.js";

/** The checked files of one run. */
export interface RunSources {
  readonly side: "old" | "new";
  readonly run: ReadRun;
  readonly chunks: CheckedRows;
  readonly child_chunks: CheckedRows;
}

/** The documents to compare in two runs, and what holds for both. */
export interface Comparison {
  readonly documents: readonly DocumentPair[];
  /** Whether all documents of both runs are compared. */
  readonly isWhole: boolean;
  /** Whether `csv_safe` may have added apostrophes to texts of one of the runs. */
  readonly unguarded: boolean;
  /** Whether both runs read child chunks. */
  readonly children: boolean;
}

/** Checks the bytes of a run's files. Throws StopError if they differ from its manifest. */
export async function checkSources(
  side: "old" | "new",
  run: ReadRun,
  { signal, progress }: DiffContext,
): Promise<RunSources> {
  const check = (file: ReadRun["chunks"]): Promise<CheckedRows> =>
    checkRows(run.dump, file, { signal, progress, step: `hashing ${file.path} of the ${side} run`, exact: false });
  return { side, run, chunks: await check(run.chunks), child_chunks: await check(run.childChunks) };
}

/** A document in one or both of the compared runs or states. */
export interface ComparedDocument {
  readonly dataset_id: string;
  readonly document_id: string;
  /** Whether its rows can be compared. */
  readonly compared: boolean;
  /** Whether both runs have the complete document: only then can a missing row be a loss. */
  readonly in_both: boolean;
  readonly is_qa: boolean;
}

/** SQL that selects the run's document details; undefined if it has none. */
export async function detailsOf(dump: Dump): Promise<string | undefined> {
  const [file] = dump.tablesOf(["document_details"], { guarded: true }) ?? [];
  return file && (await checkRows(dump, file)).sql;
}

/** Converts a document pair of two runs. */
export function comparedDocument({ dataset_id, document_id, old, new: fresh, reason }: DocumentPair): ComparedDocument {
  return {
    dataset_id,
    document_id,
    compared: reason === null,
    in_both: old !== undefined && fresh !== undefined && reason === null,
    is_qa: old?.doc_form === "qa_model",
  };
}

/**
 * Makes the table `documents`, numbered in order, with facts from their details: whether both indexings used the same uploaded file
 * and process rule, and when each was completed. `switched_off`: the document was off in the older run, so its chunks were disabled.
 * `has_details` and `lacks_details`: the older run has details of it, and the newer run lacks them.
 */
export async function loadDocuments(
  connection: Connection,
  [old, fresh]: readonly [details: string | undefined, details: string | undefined],
  documents: readonly ComparedDocument[],
): Promise<void> {
  const [before, after] = [await readProvenances(connection, old), await readProvenances(connection, fresh)];
  const rows = documents.map((document, nr) => {
    const [one, other] = [before.get(documentKey(document)), after.get(documentKey(document))];
    return {
      nr,
      ...document,
      same_source: one?.source != null && one.source === other?.source,
      switched_off: one?.isOff === true,
      has_details: one !== undefined,
      lacks_details: one !== undefined && other === undefined,
      old_indexed_at: one?.indexedAt ?? null,
      new_indexed_at: other?.indexedAt ?? null,
    };
  });
  const names = Object.entries(documentTypes).map(([name, type]) => `${name} ${type}`);
  await connection.run(`CREATE TABLE documents (${names.join(", ")})`);
  for (let at = 0; at < rows.length; at += documentsAtOnce) {
    const statement = await connection.prepare(
      `INSERT INTO documents BY NAME SELECT unnest(from_json($1::JSON, ${sqlText(JSON.stringify([documentTypes]))}), recursive := true)`,
    );
    statement.bindVarchar(1, jsonText(rows.slice(at, at + documentsAtOnce)));
    await statement.run();
  }
}

const documentsAtOnce = 10_000;

const documentTypes = {
  ...{ nr: "BIGINT", dataset_id: "VARCHAR", document_id: "VARCHAR", compared: "BOOLEAN", in_both: "BOOLEAN" },
  ...{
    is_qa: "BOOLEAN",
    same_source: "BOOLEAN",
    switched_off: "BOOLEAN",
    has_details: "BOOLEAN",
    lacks_details: "BOOLEAN",
  },
  ...{ old_indexed_at: "DOUBLE", new_indexed_at: "DOUBLE" },
};

/** How a document was made, according to its details. */
interface Provenance {
  /** The uploaded file and the process rule as one text; null if the document has no file. */
  readonly source: string | null;
  /** When its indexing was completed, in Unix seconds. */
  readonly indexedAt: number | null;
  /** Whether the document is disabled or archived, which disables its chunks. */
  readonly isOff: boolean;
}

/** How each document was made, by `documentKey`. Documents whose details were not read are missing. */
async function readProvenances(
  connection: Connection,
  details: string | undefined,
): Promise<ReadonlyMap<string, Provenance>> {
  if (details === undefined) return new Map();
  const rows = await rowsOf(
    connection,
    `SELECT dataset_id, document_id, data_source_info AS info, process_rule AS rule, epoch(completed_at) AS indexed_at,
      NOT coalesce(enabled, true) OR coalesce(archived, false) AS is_off FROM ${details}`,
  );
  return new Map(
    rows.map(({ dataset_id, document_id, info, rule, indexed_at, is_off }) => [
      documentKey({ dataset_id: String(dataset_id), document_id: String(document_id) }),
      {
        source: sourceFrom(parsed(info), parsed(rule)),
        indexedAt: typeof indexed_at === "number" ? indexed_at : null,
        isOff: is_off === true,
      },
    ]),
  );
}

/**
 * The uploaded file and the process rule as one text, equal if both are the same; null without a file. The id of the rule is left
 * out, because it changes with each indexing.
 */
function sourceFrom(info: unknown, rule: unknown): string | null {
  const { id } = membersOf(membersOf(info).upload_file);
  const { mode, rules } = membersOf(rule);
  if (typeof id !== "string" || id === "" || typeof mode !== "string") return null;
  return jsonText({ id, mode, rules: sorted(rules) });
}

/** Parses a column of JSON text. */
function parsed(value: unknown): unknown {
  return JSON.parse(textIn(value) ?? "null");
}

/** Sorts the members of objects by name, at every level. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/** Makes the table `<side>_<kind>` of facts about the rows that can be compared. Throws StopError if the file is damaged. */
export async function loadFacts(
  connection: Connection,
  kind: MatchedKind,
  { side, run, ...sources }: RunSources,
  comparison: Comparison,
): Promise<void> {
  const isCompared = kind === "chunks" || comparison.children;
  const skip = comparison.isWhole ? "" : "SEMI JOIN (FROM documents WHERE compared) USING (dataset_id, document_id)";
  const compared = comparison.documents.filter(({ reason }) => reason === null);
  await loadRows(connection, run.dump, sources[kind], {
    name: `${side}_${kind}`,
    statement: (rows) =>
      `FROM (${factsSql(kind, contentSql(kind, rows, comparison.unguarded), side)}) ${isCompared ? skip : "LIMIT 0"}`,
    ...(isCompared ? { counted: compared } : {}),
  });
}
