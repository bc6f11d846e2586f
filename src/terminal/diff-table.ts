import { countText } from "../amounts.js";
import type { ChangeSelection, Changes } from "../compare/read-changes.js";
import type { ChangeCounts, ChunkChange, DocumentDiff, RunDiff } from "../compare/run-diff.js";
import { nameAndId, nameText } from "../words.js";
import { type DiffPage, renderChange } from "./diff-change.js";
import { wrapToWidth } from "./display-width.js";
import { layOutTable } from "./table.js";
import { type Paint, terminalText } from "./text.js";

export interface DiffTableOptions extends DiffPage {
  /** Only the documents, all of those that differ. */
  readonly documentsOnly: boolean;
}

/** Documents that are shown where chunks follow. */
const mostDocuments = 100;

const columns = ["added", "removed", "changed", "moved", "fields", "unchanged"] as const;
const heads = ["document", "added", "removed", "changed", "moved", "fields", "same"];

const right = { right: true };
const tableColumns = [{ id: true }, right, right, right, right, right, { right: true, drop: 1 }];

/** Renders the differences between two runs for people: documents with their counts, then chunks, lost ones first. */
export async function renderDiff(diff: RunDiff, changes: Changes, options: DiffTableOptions): Promise<string> {
  const sections = options.documentsOnly ? [] : await renderSections(diff, changes, options);
  const verdict = wrapToWidth(renderVerdict(diff, options.paint), options.columns, "  ");
  return [...renderDocuments(diff, options), ...sections, ...verdict].join("\n");
}

function renderDocuments({ documents, counts }: RunDiff, options: DiffTableOptions): string[] {
  const { paint, columns: width, documentsOnly } = options;
  const others = documents.filter(({ state }) => state !== "same");
  if (others.length === 0) return [];
  const shown = documentsOnly ? others : others.slice(0, mostDocuments);
  const more = others.length - shown.length;
  const totals = [["all chunks", ...cellsOf(counts.chunks)]];
  if (hasRows(counts.child_chunks)) totals.push(["all child chunks", ...cellsOf(counts.child_chunks)]);
  const rows = [
    heads,
    ...shown.flatMap(rowsOf),
    ...(more > 0 ? [[`… and ${countText(more, "more document")}; --only document shows all`]] : []),
    ...(counts.documents.same > 0 ? [[`${countText(counts.documents.same, "document")} without a difference`]] : []),
    ...totals,
  ];
  const isCount = (at: number) => at > 0 && rows[at]?.length !== 1;
  const lines = layOutTable(rows, { columns: tableColumns, width, gap: 1 });
  return [...lines.flatMap((row, at) => (isCount(at) ? row : row.map(paint.faint))), ""];
}

/** A row of counts is a name with its cells; a remark is a row of one cell. */
function rowsOf(document: DocumentDiff): readonly (readonly string[])[] {
  const head = terminalText(document.document_id, 80);
  const remarks = remarksOn(document).map((remark) => [`  ${remark}`]);
  if (document.state === "not_compared") return [[head], ...remarks];
  const rows = [[head, ...cellsOf(document.chunks)]];
  if (hasRows(document.child_chunks)) rows.push(["  child chunks", ...cellsOf(document.child_chunks)]);
  return [...rows, ...remarks];
}

function remarksOn({
  document_name,
  state,
  reindexed,
  reordered,
  reason,
  chunks,
  child_chunks,
}: DocumentDiff): readonly string[] {
  const lost = chunks.lost + child_chunks.lost;
  const byHand = chunks.lost_by_hand + child_chunks.lost_by_hand;
  const remarks: string[] = document_name === null ? [] : [nameText(document_name)];
  if (state === "removed") remarks.push("only in the old run");
  if (state === "added") remarks.push("only in the new run");
  if (reindexed)
    remarks.push(`re-indexed: ${lost === 0 ? "nothing lost" : `${lost} lost, ${byHand} of them made by hand`}`);
  if (chunks.moved > 0 && !reordered) remarks.push("moved together; their order is the same");
  if (reason !== null) remarks.push(`not compared: ${terminalText(reason, 300)}`);
  return remarks;
}

function cellsOf(counts: ChangeCounts): readonly string[] {
  return columns.map((name) => String(counts[name]));
}

function hasRows(counts: ChangeCounts): boolean {
  return columns.some((name) => counts[name] > 0);
}

/** Chunks one by one; how many of a section at the most, and what stands above them. */
const sections: readonly { selection: ChangeSelection; most: number; title: string }[] = [
  { selection: "lost by hand", most: 100, title: "Lost by the re-index, made by hand" },
  { selection: "lost", most: 30, title: "Lost by the re-index" },
  { selection: "others but moved", most: 50, title: "Other differences" },
];

const margin = "    ";

async function renderSections(diff: RunDiff, changes: Changes, options: DiffTableOptions): Promise<readonly string[]> {
  const lines: string[] = [];
  const names = new Map(diff.documents.map(({ document_id, document_name }) => [document_id, document_name]));
  const nameOf = ({ document_id: id }: ChunkChange) => nameAndId(names.get(id), terminalText(id, 80));
  const faint = (text: string) => wrapToWidth(text, options.columns, "  ").map(options.paint.faint);
  for (const { selection, most, title } of sections) {
    const found = await changes.first(selection, most + 1);
    if (found.length === 0) continue;
    lines.push(options.paint.strong(`${title}:`));
    let document: string | undefined;
    for (const change of found.slice(0, most)) {
      if (change.document_id !== document)
        lines.push(...wrapToWidth(`  document ${nameOf(change)}`, options.columns, "  "));
      document = change.document_id;
      const inner = { ...options, columns: options.columns - margin.length };
      lines.push(...renderChange(change, inner).map((line) => margin + line));
    }
    if (found.length > most) lines.push(...faint("  … and more; --format csv or json has all of them"));
    lines.push("");
  }
  const moved = diff.counts.chunks.moved + diff.counts.child_chunks.moved;
  if (moved > 0) lines.push(...faint(`${moved} moved; --format csv or json lists them`), "");
  return lines;
}

function renderVerdict({ status, counts }: RunDiff, paint: Paint): string {
  const { documents, chunks, child_chunks } = counts;
  if (status === "same") {
    const notCompared = documents.not_compared > 0 ? `, ${documents.not_compared} not compared` : "";
    const reindexed = documents.reindexed > 0 ? `, ${documents.reindexed} of them re-indexed` : "";
    return `${paint.strong(paint.good("same"))}: ${countText(documents.same, "document")}${reindexed}${notCompared}, ${countText(chunks.unchanged, "chunk")}, ${countText(child_chunks.unchanged, "child chunk")}`;
  }
  const facts = [
    ...(["different", "removed", "added", "not_compared"] as const)
      .filter((state) => documents[state] > 0)
      .map((state) => `${documents[state]} ${state.replace("_", " ")}`),
  ];
  const total = chunks.lost + child_chunks.lost;
  const lost =
    total > 0
      ? `; lost by a re-index: ${total}, ${chunks.lost_by_hand + child_chunks.lost_by_hand} of them made by hand`
      : "";
  return `${paint.strong(paint.bad("different"))}: of ${countText(sumOf(documents), "document")} ${facts.join(", ")}${lost}`;
}

function sumOf(documents: RunDiff["counts"]["documents"]): number {
  const { same, different, removed, added, not_compared } = documents;
  return same + different + removed + added + not_compared;
}
