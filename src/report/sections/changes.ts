import { countText, dayText, numberText } from "../../amounts.js";
import type { SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import { mostChartRows, renderChart, shownText, stacked } from "../page/chart.js";
import { foreign, type HtmlValue, html, timeText } from "../page/html.js";
import { type Section, sentences } from "../page/page.js";
import { column, numberOf, renderTable } from "../page/table.js";
import type { Source } from "../source.js";

/** The kinds of change, as the page groups them. `sum` adds up columns of the database view. Hit counts do not count as changes. */
const kinds = [
  { name: "added", mark: "mark-3", sum: "added" },
  { name: "removed", mark: "mark-2", sum: "removed" },
  { name: "text changed", mark: "mark-1", sum: "changed" },
  { name: "re-indexed", mark: "mark-4", sum: "reindexed" },
  { name: "moved", mark: "mark-6", sum: "moved" },
  { name: "other fields", mark: "mark-7", sum: "switched + keywords + status_changed + other" },
  {
    name: "child chunks",
    mark: "mark-5",
    sum: "children_added + children_removed + children_changed + children_reindexed",
  },
] as const;

const all = kinds.map(({ sum }) => sum).join(" + ");

/** Shows the changes that each run found since its predecessor, up to this run. */
export async function changesSection(source: Source): Promise<Section> {
  const section = { id: "changes", title: "Changes per run" };
  if (source.noHistory !== null)
    return {
      ...section,
      lead: html`There is no history to show. ${foreign(source.noHistory, 300)} A job keeps one when its file has <code>duckdb</code> among <code>output.formats</code>: then every run notes what changed.`,
      body: "",
    };
  const upToThis = `run_id <= ${sqlText(source.manifest.run_id)}`;
  const table = await source.table({
    caption: "Changes per run: chunks by kind, and child chunks",
    columns: [
      column.time("Run", "started"),
      column.state("State", "status"),
      ...kinds.map(({ name }) => column.number(`${name[0]?.toUpperCase()}${name.slice(1)}`, name)),
    ],
    select: `SELECT '' AS dataset_id, '' AS document_id, run_id, epoch_ms(started_at) AS started, status, ${all} AS all_changes,
      ${kinds.map(({ name, sum }) => `${sum} AS "${name}"`).join(", ")} FROM job.main.changes_per_run WHERE ${upToThis}`,
    order: "run_id DESC",
    query: source.askDatabase(`FROM changes_per_run WHERE ${upToThis} ORDER BY run_id`),
  });
  const { rows, total } = table;
  return { ...section, lead: changesLead(rows, total), body: [renderBars(rows, total), renderTable(table)] };
}

function changesLead(rows: readonly SqlRow[], total: number): HtmlValue {
  const [newest] = rows;
  const reindexes = rows.filter((row) => numberOf(row["re-indexed"]) > 0);
  const [last] = reindexes;
  const isFirst = newest?.all_changes === null || newest === undefined;
  return sentences(
    `The history knows ${countText(total, "run")} up to this one.`,
    isFirst
      ? "This one had no earlier run to compare with."
      : `This run found ${numberOf(newest.all_changes) === 0 ? "nothing changed" : countText(numberOf(newest.all_changes), "change")}.`,
    last &&
      `${countText(reindexes.length, "run")} found re-indexed chunks, the last time on ${dayText(numberOf(last.started))} (${countText(numberOf(last["re-indexed"]), "chunk")}).`,
  );
}

function renderBars(rows: readonly SqlRow[], total: number): HtmlValue {
  const shown = rows.slice(0, mostChartRows);
  const most = Math.max(...shown.map((row) => numberOf(row.all_changes)));
  if (most <= 0) return "";
  const day = shown.find((row) => numberOf(row.all_changes) === most);
  const partsOf = (row: SqlRow) =>
    kinds.map(({ name, mark }) => {
      const count = numberOf(row[name]);
      return { count, mark, text: `${name}: ${numberText(count)}` };
    });
  return renderChart(
    {
      id: "change-bars",
      finding: `The run of ${dayText(numberOf(day?.started))} found the most: ${countText(most, "change")}.`,
      hint: shownText(shown.length, total, "the newest").trim(),
      keys: kinds.map(({ mark, name }) => ({ mark, text: name })),
      ticks: { 0: "0", 100: numberText(most) },
    },
    shown.map((row) => ({
      name: timeText(numberOf(row.started)),
      pieces: stacked(partsOf(row), most),
      value: row.all_changes === null ? "no earlier run" : numberText(numberOf(row.all_changes)),
    })),
  );
}
