import { bytesText, countText } from "../../amounts.js";
import { sqlText } from "../../duckdb/sql.js";
import { filteredDatasets, type Manifest } from "../../dump/manifest.js";
import type { Verification } from "../../verify/findings.js";
import { causeFirst, listText } from "../../words.js";
import { type HtmlValue, html, stateText } from "../page/html.js";
import { type Answer, type Answered, type Section, sentences, withoutZero } from "../page/page.js";
import { column, renderNotes, renderTable, type Table } from "../page/table.js";
import { commandOf } from "../report-path.js";
import type { Source } from "../source.js";

/** Shows whether the dump is complete: incomplete documents, its contents, and the findings of the verification. */
export async function verdictSection(source: Source, verification: Verification | undefined): Promise<Answered> {
  const { manifest, content } = source;
  const incomplete = await incompleteTable(source);
  const problems = verification?.status === "differences";
  return {
    ...answerOf(manifest, verification),
    id: "verdict",
    question: "Is the dump complete?",
    title: "Verdict",
    needsAction: problems || manifest.status === "partial",
    next: problems ? undefined : nextOf(source),
    body: [
      incomplete.total > 0 && [renderTable(incomplete), advice],
      problems && renderDifferences(verification, content),
      manifest.warnings.length > 0 && [
        html`<h3>Warnings of the run</h3>`,
        renderNotes(content ? manifest.warnings.map(causeFirst) : [], manifest.warnings.length, "warning"),
      ],
      renderTable(await datasetsTable(source)),
      renderVerification(verification, content),
      renderFiles(manifest),
    ],
  };
}

const advice = html`<p><strong>Failed</strong>: the document could not be read. <strong>Unstable</strong>: it changed each time that it was read, or the service could not return some rows; the dump has the rows of the last read. Remove the cause, then run the job again with <code class="word">--retry-failed</code>: it reads only these documents, and keeps all others.</p>`;

function answerOf(manifest: Manifest, verification: Verification | undefined): Answer {
  const { documents, counts, status, options, warnings } = manifest;
  const filtered = filteredDatasets(options).length;
  const filter =
    filtered > 0 &&
    `The job filters the chunks of ${countText(filtered, "dataset")}: the dump has only those that match.`;
  if (verification?.status === "differences") {
    const found = countText(verification.finding_count, "difference");
    const lead = sentences(`Reading the files again found ${found}. Do not rely on this dump.`, filter);
    return { tone: "bad", short: "No, files differ", lead };
  }
  if (status === "partial")
    return { tone: "warn", short: "No, partial", lead: sentences(missingFrom(manifest), filter) };
  if (documents.length === 0) {
    const lead = "Nothing failed, but the run found no document. Check that the job names the datasets that you mean.";
    return { tone: "warn", short: "Yes, but empty", lead };
  }
  const [chunks, children] = [countText(counts.chunks, "chunk"), countText(counts.child_chunks, "child chunk")];
  const lead = sentences(
    `Everything that the job names was read: ${countText(documents.length, "document")}, ${chunks} and ${children}.`,
    options.child_chunks === "none" && "The job leaves child chunks out.",
    verification && "Reading its files again found no difference.",
    filter,
    warnings.length > 0 && `The run has ${countText(warnings.length, "warning")}.`,
  );
  return { tone: "good", short: "Yes, complete", lead };
}

/** Says why a partial run is not complete. */
function missingFrom({ documents }: Manifest): string {
  const count = (wanted: string) => documents.filter((row) => row.status === wanted).length;
  const [failed, unstable] = [count("failed"), count("unstable")];
  const missing = failed + unstable;
  if (missing === 0)
    return "Every document that was read is complete, but the run could not read everything: its warnings say what.";
  const moved = `${unstable} changed while ${unstable === 1 ? "it was" : "they were"} read`;
  const why = listText(withoutZero(`${failed} could not be read`, moved));
  return `${missing} of ${countText(documents.length, "document")} ${missing === 1 ? "is" : "are"} not complete: ${why}.`;
}

function nextOf({ manifest, job }: Source): Section["next"] {
  if (manifest.status === "complete") return undefined;
  const isRead = manifest.documents.every(({ status }) => status === "complete");
  const text = isRead
    ? "Read everything again:"
    : "Remove the cause, then read the documents that are not complete again:";
  return { text, command: commandOf("run", [job.word, ...(isRead ? [] : ["--retry-failed"]), ...job.flags]) };
}

async function incompleteTable(source: Source): Promise<Table> {
  const shown = "SELECT dataset_id, document_id, status, total, chunk_count, error";
  return source.table({
    caption: "Documents that are not complete",
    columns: [
      column.document,
      column.state("State", "status"),
      column.text("Reason", "error", 300),
      ...column.numbers({ "Chunks here": "chunk_count", "In the service": "total" }),
    ],
    select: `${shown}, nr FROM documents WHERE status <> 'complete'`,
    order: "nr",
    query: source.run
      ? source.askRun(`${shown} FROM documents WHERE status <> 'complete'`)
      : source.askDatabase(`${shown} FROM failed_reads WHERE run_id = ${sqlText(source.manifest.run_id)}`),
  });
}

async function datasetsTable(source: Source): Promise<Table> {
  const counts = "count(*) AS documents, sum(chunk_count) AS chunks, sum(child_chunk_count) AS child_chunks";
  return source.table({
    caption: "Datasets",
    columns: [
      column.dataset,
      ...column.numbers({ Documents: "documents", "Not complete": "incomplete" }),
      ...column.numbers({ Chunks: "chunks", "Child chunks": "child_chunks" }),
    ],
    select: `SELECT dataset_id, arg_min(document_id, nr) AS document_id, ${counts}, min(nr) AS nr,
      count(*) FILTER (status <> 'complete') AS incomplete FROM documents GROUP BY dataset_id`,
    order: "nr",
    query: source.askRun(`SELECT dataset_id, ${counts} FROM ${source.rowsOfRun("documents")} GROUP BY dataset_id`),
  });
}

function renderDifferences({ findings, finding_count }: Verification, content: boolean): HtmlValue {
  return html`<p>The files are not as the run wrote them: restore them from a copy, or run the job again.</p>
${renderNotes(content ? findings.map(({ file, message }) => `${file}: ${message}`) : [], finding_count, "difference")}`;
}

function renderVerification(verification: Verification | undefined, content: boolean): HtmlValue {
  if (!verification)
    return html`<p>${stateText("quiet", "Not verified")} This report was made without reading the files of the dump again. <code>kbdump verify</code> does that.</p>`;
  const { checked, status } = verification;
  const sound =
    status === "sound" &&
    html`<p>${stateText("good", "Sound")} kbdump read all ${countText(checked.files, "file")} again: hashes, counts and ids agree with the manifest.</p>`;
  const notes =
    checked.notes.length > 0 &&
    html`<p>Checks that were not possible:</p>${renderNotes(content ? checked.notes : [], checked.notes.length, "check")}`;
  return [sound, notes];
}

function renderFiles({ files }: Manifest): HtmlValue {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const columns = [column.code("File", "path"), column.number("Rows", "rows"), column.bytes("Size", "bytes")];
  const table = {
    caption: "Files of the dump",
    columns: [...columns, column.code("SHA-256", "sha256")],
    rows: files,
    total: files.length,
    query: null,
  };
  return html`<details><summary>${countText(files.length, "file")}, ${bytesText(bytes)}, with their hashes</summary>
${renderTable(table)}</details>`;
}
