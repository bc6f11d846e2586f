import { greatest, sum } from "d3-array";
import { countText } from "../../../amounts.js";
import { type ChangedKind, type ChangeFacts, changedKinds, type RunChanges } from "../../history-facts.js";
import { numberText, secondText, stateText } from "../cells.js";
import { foreign } from "../foreign.js";
import { type HtmlValue, html } from "../html.js";
import { renderChangeBars } from "../pictures/change-bars.js";
import { dayText } from "../pictures/day-text.js";
import type { Section } from "../section.js";
import { renderTable, type TableColumn, tableBytes } from "../table.js";

/** The changes that each run found since the one before. */
export function changesSection(facts: ChangeFacts): Section {
  const { runs, total, query } = facts;
  const rows = runs.toReversed();
  return {
    id: "changes",
    title: "Changes per run",
    lead: leadOf(facts),
    body: [
      runs.length > 0 && renderChangeBars(facts, findingOf(runs)),
      runs.length > 0 &&
        renderTable(columns, { rows, total, query }, { caption: "Changes per run", bytes: tableBytes }),
    ],
  };
}

function leadOf({ runs, total, reason }: ChangeFacts): HtmlValue {
  const newest = runs.at(-1);
  if (!newest) {
    return html`There is no history to show. ${foreign(reason, 300)} A job keeps one when its file has <code>duckdb</code> among <code>output.formats</code>: then every run notes what changed.`;
  }
  const runText = `The history knows ${countText(total, "run")} up to this one.`;
  if (newest.counts === null)
    return `${runText} This one had no earlier run to compare with, so that changes show from the next run on.`;
  const changes = changesOf(newest);
  const newestText =
    changes === 0 ? " This run found nothing changed." : ` This run found ${countText(changes, "change")}.`;
  const reindexes = runs.filter(({ counts }) => (counts?.reindexed ?? 0) > 0);
  const last = reindexes.at(-1);
  const reindexText =
    last &&
    html` ${countText(reindexes.length, "run")} found chunks indexed anew, the last time on ${dayText(last.started_at)} (${countText(last.counts?.reindexed ?? 0, "chunk")}).`;
  return [runText, newestText, reindexText];
}

function findingOf(runs: readonly RunChanges[]): HtmlValue {
  const most = greatest(runs, changesOf);
  if (!most || changesOf(most) === 0) return "No run found a change.";
  return html`The run of ${dayText(most.started_at)} found the most: ${countText(changesOf(most), "change")}.`;
}

function changesOf({ counts }: RunChanges): number {
  return counts === null ? 0 : sum(Object.values(counts));
}

const titles: Readonly<Record<ChangedKind, string>> = {
  added: "Added",
  removed: "Removed",
  changed: "Text changed",
  moved: "Moved",
  reindexed: "Re-indexed",
  switched: "Enabled or disabled",
  fields: "Other fields",
  children_added: "Child chunks added",
  children_removed: "Child chunks removed",
  children_changed: "Child chunks changed",
  children_fields: "Other changes of child chunks",
};

const columns: readonly TableColumn<RunChanges>[] = [
  { title: "Run", cell: ({ started_at }) => secondText(started_at), sort: ({ started_at }) => started_at },
  {
    title: "State",
    cell: ({ status }) => stateText(status === "complete" ? "good" : "warn", foreign(status, 40)),
  },
  { title: "Chunks", cell: ({ chunks }) => numberText(chunks), sort: ({ chunks }) => chunks, isNumber: true },
  ...changedKinds.map((kind) => ({
    title: titles[kind],
    cell: ({ counts }: RunChanges) => numberText(counts?.[kind] ?? null),
    sort: ({ counts }: RunChanges) => counts?.[kind] ?? null,
    isNumber: true,
  })),
];
