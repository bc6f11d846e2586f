import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import { filteredDatasets, type Manifest } from "../../dump/manifest.js";
import { cutText } from "../../safe-text.js";
import type { Verification } from "../../verify/findings.js";
import { type Cut, mostRows } from "../lost-facts.js";
import type { DatasetCounts, IncompleteDocument, VerdictFacts, VerificationFacts } from "../report-facts.js";
import {
  askDatabase,
  askRun,
  documentFrom,
  type FactSource,
  knownNumber,
  knownText,
  numberFrom,
  readCut,
  rowsOfRun,
} from "./fact-source.js";

/** Warnings of the run that are shown, and the UTF-16 units of each. */
const [mostWarnings, longestWarning] = [100, 500];

/** Gathers whether the dump is complete, and what it holds, but for what reading its files again says. */
export async function gatherVerdict(
  connection: Connection,
  source: FactSource,
  manifest: Manifest,
): Promise<Omit<VerdictFacts, "verification">> {
  const drift = Object.entries(manifest.drift).toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  const { content } = source;
  return {
    job: manifest.job,
    run_id: manifest.run_id,
    status: manifest.status,
    tool_version: manifest.tool.version,
    base_url: manifest.service.base_url,
    started_at: Date.parse(manifest.started_at),
    finished_at: Date.parse(manifest.finished_at),
    documents: countDocuments(manifest),
    chunks: manifest.counts.chunks,
    child_chunks: manifest.counts.child_chunks,
    reads_children: manifest.options.child_chunks !== "none",
    indexing_status: manifest.counts.indexing_status,
    incomplete: await readCut(connection, { ...incomplete, query: incompleteQuery(source) }, incompleteFrom),
    datasets: await readDatasets(connection, source),
    files: manifest.files.map(({ path, rows, bytes, sha256 }) => ({ path, rows, bytes, sha256 })),
    originals: manifest.originals ? countVerdicts(manifest.originals) : null,
    warnings: content ? manifest.warnings.slice(0, mostWarnings).map((text) => cutText(text, longestWarning)) : [],
    warning_count: manifest.warnings.length,
    drift: content ? drift.slice(0, mostRows).map(([field, count]) => ({ field, count })) : [],
    drift_count: drift.reduce((sum, [, count]) => sum + count, 0),
    filtered_datasets: filteredDatasets(manifest.options).length,
  };
}

function countDocuments({ documents }: Manifest): VerdictFacts["documents"] {
  const count = (status: string) => documents.filter((row) => row.status === status).length;
  return { complete: count("complete"), unstable: count("unstable"), failed: count("failed") };
}

function countVerdicts(originals: NonNullable<Manifest["originals"]>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { verdict } of originals) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

const incomplete = {
  select:
    "SELECT nr, dataset_id, document_id, status, total, chunk_count, error FROM documents WHERE status <> 'complete'",
  order: "nr",
};

function incompleteQuery(source: FactSource): string {
  const shown = "SELECT dataset_id, document_id, status, total, chunk_count, error";
  return source.run
    ? askRun(source, `${shown} FROM documents WHERE status <> 'complete'`)
    : askDatabase(source, `${shown} FROM failed_reads WHERE run_id = ${sqlText(source.run_id)}`);
}

function incompleteFrom(row: SqlRow): IncompleteDocument {
  return {
    ...documentFrom(row),
    status: row.status === "unstable" ? "unstable" : "failed",
    total: knownNumber(row.total),
    chunks: numberFrom(row.chunk_count),
    error: knownText(row.error),
  };
}

async function readDatasets(connection: Connection, source: FactSource): Promise<Cut<DatasetCounts>> {
  const rows = await rowsOf(
    connection,
    `SELECT dataset_id, any_value(dataset_name) AS dataset_name, count(*) AS documents,
      count(*) FILTER (status <> 'complete') AS incomplete, sum(chunk_count) AS chunks, sum(child_chunk_count) AS child_chunks
    FROM documents GROUP BY dataset_id ORDER BY min(nr) LIMIT ${mostRows}`,
  );
  const [counted] = await rowsOf(connection, "SELECT count(DISTINCT dataset_id) AS total FROM documents");
  const query = `SELECT dataset_id, count(*) AS documents, sum(chunk_count) AS chunks, sum(child_chunk_count) AS child_chunks
    FROM ${rowsOfRun(source, "documents")} GROUP BY dataset_id`;
  return { rows: rows.map(datasetFrom), total: numberFrom(counted?.total), query: askRun(source, query) };
}

function datasetFrom(row: SqlRow): DatasetCounts {
  return {
    dataset_id: String(row.dataset_id),
    dataset_name: knownText(row.dataset_name),
    documents: numberFrom(row.documents),
    incomplete: numberFrom(row.incomplete),
    chunks: numberFrom(row.chunks),
    child_chunks: numberFrom(row.child_chunks),
  };
}

/** Findings and notes that are shown of each, and the UTF-16 units of one. */
const [mostShown, longest] = [20, 500];

/** The facts of a verification. Findings and notes may quote the service: without content they are left out. */
export function verificationFacts(
  { status, finding_count, findings, checked }: Verification,
  content: boolean,
): VerificationFacts {
  const shown = (texts: readonly string[]) =>
    content ? texts.slice(0, mostShown).map((text) => cutText(text, longest)) : [];
  return {
    status,
    finding_count,
    findings: shown(findings.map(({ file, message }) => `${file}: ${message}`)),
    files: checked.files,
    notes: shown(checked.notes),
  };
}
