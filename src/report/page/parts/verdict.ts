import { bytesText, countText } from "../../../amounts.js";
import type { DatasetCounts, IncompleteDocument, VerdictFacts, VerificationFacts } from "../../report-facts.js";
import { foreign, type Html, type HtmlValue, html, isBlank, type Section } from "../html.js";
import { documentCell, idText, numberColumn, renderTable, stateText, tableBytes } from "../table.js";
import { renderNotes } from "./lost.js";

/** Whether the dump is complete: the documents that are not, what the dump holds, and what reading it again found. */
export function verdictSection(facts: VerdictFacts): Section {
  return {
    id: "verdict",
    title: "Verdict",
    lead: leadOf(facts),
    body: [
      renderIncomplete(facts),
      html`<h3>Verification</h3>`,
      renderVerification(facts.verification),
      html`<h3>Datasets and files</h3>`,
      renderDatasets(facts),
      renderOriginals(facts.originals),
      renderFiles(facts),
      renderWarnings(facts),
      renderDrift(facts),
    ],
  };
}

function leadOf({ documents, status }: VerdictFacts): HtmlValue {
  const { complete, unstable, failed } = documents;
  const all = complete + unstable + failed;
  if (unstable + failed > 0) {
    return `${complete} of ${countText(all, "document")} ${complete === 1 ? "was" : "were"} read whole. kbdump counts a document as complete only if all pages of its lists came, with as many rows as the service counts.`;
  }
  if (status === "partial")
    return "Every document that was read is complete, but the run is not: the warnings below say what is missing.";
  if (all === 0) return "The run found no documents. Check that the job names the datasets that you mean.";
  const [read, whose] =
    all === 1 ? ["The one document was", "its"] : [`All ${countText(all, "document")} were`, "their"];
  return `${read} read whole: every page of ${whose} lists came, with as many rows as the service counts.`;
}

function renderOriginals(originals: VerdictFacts["originals"]): HtmlValue {
  if (originals === null)
    return html`<p>The job does not ask for the original files of documents, so the dump has none of them.</p>`;
  const kinds = Object.entries(originals).sort(([a], [b]) => (a < b ? -1 : 1));
  if (kinds.length === 0) return html`<p>The run was asked for original files, and found none.</p>`;
  return html`<p>Original files and attachments: ${kinds.map(([verdict, count], at) => [at > 0 && ", ", `${count} ${verdict}`])}.</p>`;
}

function renderWarnings({ warnings, warning_count }: VerdictFacts): HtmlValue {
  if (warning_count === 0) return "";
  return html`<h3>Warnings of the run</h3>${renderNotes(warnings, warning_count, "warning")}`;
}

type FileCounts = VerdictFacts["files"][number];
type FieldCount = VerdictFacts["drift"][number];

/** The documents that are not complete, and what to do about them. */
function renderIncomplete({ incomplete }: VerdictFacts): HtmlValue {
  if (incomplete.total === 0) return "";
  const table = renderTable<IncompleteDocument>(
    [
      { title: "Document", cell: documentCell },
      { title: "State", cell: ({ status }) => stateText(status === "failed" ? "bad" : "warn", status) },
      { title: "Reason", cell: ({ error }) => foreign(error, 300), isLong: true },
      numberColumn("Chunks here", ({ chunks }) => chunks),
      numberColumn("In the service", ({ total }) => total),
    ],
    incomplete,
    { caption: "Documents that are not complete", bytes: tableBytes },
  );
  return html`${table}
<p class="advice"><strong>Failed</strong>: the document could not be read. <strong>Unstable</strong>: it changed each time that it was read, or its lists never added up; the dump has the rows that came. Remove the cause, then run the job again with <code class="word">--retry-failed</code>: it reads only these documents, and keeps all others.</p>`;
}

function renderDatasets({ datasets }: VerdictFacts): HtmlValue {
  return renderTable<DatasetCounts>(
    [
      { title: "Dataset", cell: datasetCell },
      numberColumn("Documents", ({ documents }) => documents),
      numberColumn("Not complete", ({ incomplete }) => incomplete),
      numberColumn("Chunks", ({ chunks }) => chunks),
      numberColumn("Child chunks", ({ child_chunks }) => child_chunks),
    ],
    datasets,
    { caption: "Datasets", bytes: tableBytes },
  );
}

function datasetCell({ dataset_id, dataset_name }: DatasetCounts): HtmlValue {
  if (dataset_name === null || isBlank(dataset_name)) return idText(dataset_id);
  return html`<div class="document">${foreign(dataset_name)}<small>${idText(dataset_id)}</small></div>`;
}

/** The files with their hashes, folded. */
function renderFiles({ files }: VerdictFacts): HtmlValue {
  if (files.length === 0) return html`<p>The dump has no files.</p>`;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const table = renderTable<FileCounts>(
    [
      { title: "File", cell: ({ path }) => html`<code>${path}</code>` },
      numberColumn("Rows", ({ rows }) => rows),
      { title: "Size", cell: (file) => bytesText(file.bytes), sort: (file) => file.bytes, isNumber: true },
      { title: "SHA-256", cell: ({ sha256 }) => html`<code class="hash">${sha256}</code>` },
    ],
    { rows: files, total: files.length, query: null },
    { caption: "Files of the dump", bytes: tableBytes },
  );
  return html`<details><summary>${countText(files.length, "file")}, ${bytesText(bytes)}, with their hashes</summary>
${table}</details>`;
}

/** Fields that came in another shape than expected. */
function renderDrift({ drift, drift_count }: VerdictFacts): HtmlValue {
  if (drift_count === 0) return "";
  const lead = html`<h3>Unexpected fields</h3>
<p>${countText(drift_count, "value")} came with another type than expected, or in a field that has no column. Nothing is lost: they stand in the column <code>extra</code>. They may show that the service has a new release.</p>`;
  if (drift.length === 0) return lead;
  const table = renderTable<FieldCount>(
    [
      { title: "Field", cell: ({ field }) => html`<code>${foreign(field, 80)}</code>` },
      numberColumn("Values", ({ count }) => count),
    ],
    { rows: drift, total: drift.length, query: null },
    { caption: "Fields with unexpected values", bytes: tableBytes },
  );
  return html`${lead}${table}`;
}

/** The findings of reading every file of the dump again. */
function renderVerification(facts: VerificationFacts | undefined): Html {
  if (!facts) {
    return html`<p>${stateText("quiet", "Not verified")} This report was made without reading the files of the dump again. <code>kbdump verify</code> does that.</p>`;
  }
  const { status, files, findings, finding_count, notes } = facts;
  const read = `kbdump read ${files === 1 ? "the file" : `all ${countText(files, "file")}`} of this dump again`;
  const result =
    status === "sound"
      ? html`<p>${stateText("good", "Sound")} ${read}: hashes, counts and ids agree with its manifest.</p>`
      : html`<p>${stateText("bad", countText(finding_count, "difference"))} ${read}. The files are not as the run wrote them: restore them from a copy, or run the job again.</p>
${renderNotes(findings, finding_count, "difference")}`;
  return html`${result}${notes.length > 0 && html`<p>Checks that were not possible:</p>${renderNotes(notes, notes.length, "check")}`}`;
}
