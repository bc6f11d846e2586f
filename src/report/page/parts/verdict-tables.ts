import { bytesText, countText } from "../../../amounts.js";
import type { DatasetCounts, IncompleteDocument, VerdictFacts } from "../../state-facts.js";
import { documentCell, idText, stateText } from "../cells.js";
import { foreign, isBlank } from "../foreign.js";
import { type HtmlValue, html } from "../html.js";
import { numberColumn, renderTable, tableBytes } from "../table.js";

type FileCounts = VerdictFacts["files"][number];
type FieldCount = VerdictFacts["drift"][number];

/** The documents that are not complete, and what to do about them. */
export function renderIncomplete({ incomplete }: VerdictFacts): HtmlValue {
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

export function renderDatasets({ datasets }: VerdictFacts): HtmlValue {
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
export function renderFiles({ files }: VerdictFacts): HtmlValue {
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
export function renderDrift({ drift, drift_count }: VerdictFacts): HtmlValue {
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
