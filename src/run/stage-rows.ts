import type { PartFile } from "../dump/files/join-parts.js";
import type { StagedRows } from "../dump/formats/format.js";
import { joinJsonl } from "../dump/formats/jsonl/write.js";
import type { Job } from "../job/job.js";
import { type Kind, optionalKinds } from "../rows/columns.js";
import type { Row } from "../rows/row.js";
import type { Outputs } from "./open-outputs.js";
import { countsOf, type Reading } from "./reading.js";
import { DocumentParts } from "./work/document-parts.js";
import type { Workspace } from "./work/workspace.js";
import { writtenFormats } from "./written-formats.js";

/** The name of the parts that belong to no document. */
const runParts = "run";
/** Rows of these that are made into text at once. */
const rowsAtOnce = 1_000;

/** Writes the rows that belong to no single document into parts of their own. */
export async function writeRunParts(
  { documents, before, after, fields, discovery, details }: Reading,
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
  await add("indexing_status", [...before.rows, ...after.rows]);
  await add("metadata_fields", fields.rows);
  await add("document_info", discovery.found?.rows ?? []);
  await add("datasets", details?.datasets ?? []);
  await add("document_details", details?.documents ?? []);
  await parts.close();
  return parts.files;
}

/** Joins the JSONL, in the run folder if it was asked for and else in the scratch folder; the other formats need it. */
export async function joinRows(
  reading: Reading,
  files: readonly PartFile[],
  workspace: Workspace,
  job: Job,
): Promise<StagedRows> {
  const counts = countsOf(reading);
  const parts: StagedRows["parts"] = (kind, format) =>
    files.filter((file) => file.kind === kind && file.format === format);
  const rows: StagedRows["rows"] = (kind) => counts[kind] ?? 0;
  const folder = writtenFormats(job).includes("jsonl") ? workspace.stage : workspace.scratch;
  const join = (kind: Kind) => joinJsonl(folder, kind, { parts, rows });
  const always = {
    chunks: await join("chunks"),
    child_chunks: await join("child_chunks"),
    documents: await join("documents"),
    indexing_status: await join("indexing_status"),
    metadata_fields: await join("metadata_fields"),
  };
  let jsonl: StagedRows["jsonl"] = always;
  for (const kind of optionalKinds) if (counts[kind] !== undefined) jsonl = { ...jsonl, [kind]: await join(kind) };
  return { folder: workspace.stage, parts, rows, jsonl };
}
