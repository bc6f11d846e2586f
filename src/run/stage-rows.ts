import type { PartFile } from "../dump/files/join-parts.js";
import { partitionedKinds } from "../dump/formats/file-name.js";
import type { StagedRows, StagedTable } from "../dump/formats/format.js";
import { joinJsonl } from "../dump/formats/jsonl/write.js";
import type { Job } from "../job/job.js";
import { allKinds, type Kind } from "../rows/columns.js";
import type { Row } from "../rows/row.js";
import type { DumpedDocument } from "./documents/document-result.js";
import type { Outputs } from "./open-outputs.js";
import { DocumentParts } from "./parts/document-parts.js";
import { countsOf, type Reading } from "./reading.js";
import type { Workspace } from "./work/workspace.js";
import { writtenFormats } from "./written-formats.js";

/** The name of the parts that belong to no document. */
const runParts = "run";
/** Rows of these that are made into text at once. */
const rowsAtOnce = 1_000;

/** Writes the rows that belong to no single document into parts of their own. */
export async function writeRunParts(
  { documents, discovery, rows }: Reading,
  workspace: Workspace,
  { formats }: Outputs,
): Promise<readonly PartFile[]> {
  const parts = new DocumentParts(workspace.parts, runParts, formats);
  const add = async (kind: Kind, rows: readonly Row[]) => {
    for (let first = 0; first < rows.length; first += rowsAtOnce) {
      parts.add(kind, rows.slice(first, first + rowsAtOnce));
      await parts.flush(); // as text, they take as much memory again
    }
  };
  await add(
    "documents",
    documents.map(({ row }) => row),
  );
  await add("indexing_status", rows.indexing_status);
  await add("metadata_fields", rows.metadata_fields);
  await add("document_info", discovery.found?.rows ?? []);
  await add("datasets", rows.datasets ?? []);
  await add("document_details", rows.document_details ?? []);
  await parts.close();
  return parts.files;
}

/** A table whose JSONL is not joined yet. */
type Table = Omit<StagedTable, "jsonl">;

/** Joins the JSONL, in the run folder if it was asked for and else in the scratch folder; the other formats need it. */
export async function joinRows(
  reading: Reading,
  runParts: readonly PartFile[],
  workspace: Workspace,
  job: Job,
  signal: AbortSignal,
): Promise<StagedRows> {
  const counts = countsOf(reading);
  const { output } = job;
  const isWritten = writtenFormats(job).includes("jsonl");
  const [folder, compression] = isWritten ? [workspace.stage, output.compress] : [workspace.scratch, "none" as const];
  const parts = [...reading.documents.flatMap(({ files }) => files), ...runParts];
  const tables: StagedTable[] = [];
  for (const kind of allKinds.filter((kind) => counts[kind] !== undefined))
    for (const table of tablesOf(kind, counts[kind] ?? 0, reading, parts, output))
      tables.push({ ...table, jsonl: await joinJsonl(folder, table, { compression, signal }) });
  const rows: StagedRows["rows"] = (kind) => counts[kind] ?? 0;
  return { folder: workspace.stage, compression: output.compress, tables, rows };
}

/** One table of a kind, or one for each dataset. */
function tablesOf(
  kind: Kind,
  rows: number,
  { documents }: Pick<Reading, "documents">,
  parts: readonly PartFile[],
  { partition }: Job["output"],
): readonly Table[] {
  const isDivided = partition === "dataset" && partitionedKinds.includes(kind) && documents.length > 0;
  if (!isDivided) return [tableOf(kind, undefined, rows, parts)];
  const datasets = new Map<string, DumpedDocument[]>(documents.map(({ row }) => [row.dataset_id, []]));
  for (const document of documents) datasets.get(document.row.dataset_id)?.push(document);
  return [...datasets].map(([dataset, members]) => {
    const files = members.toSorted(byDocumentId).flatMap(({ files }) => files);
    return tableOf(kind, dataset, rowsOf(kind, members), files);
  });
}

function tableOf(kind: Kind, dataset: string | undefined, rows: number, files: readonly PartFile[]): Table {
  const ofKind = files.filter((file) => file.kind === kind);
  return { kind, dataset, rows, parts: (format) => ofKind.filter((file) => file.format === format) };
}

function rowsOf(kind: Kind, documents: readonly DumpedDocument[]): number {
  return documents.reduce((sum, { row }) => sum + (kind === "chunks" ? row.chunk_count : row.child_chunk_count), 0);
}

/** Documents by their ids: a reader of one document skips the parts of a file whose ids are all smaller or larger. */
function byDocumentId({ row: one }: DumpedDocument, { row: other }: DumpedDocument): number {
  if (one.document_id === other.document_id) return 0;
  return one.document_id < other.document_id ? -1 : 1;
}
