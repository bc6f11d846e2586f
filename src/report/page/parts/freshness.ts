import { least, sum } from "d3-array";
import { ageText, countText } from "../../../amounts.js";
import type { DocumentFreshness, FreshnessFacts, ReadState } from "../../state-facts.js";
import { documentCell, documentName, numberText, stateText, type Tone, timeText } from "../cells.js";
import { type HtmlValue, html } from "../html.js";
import { renderChangeSpans } from "../pictures/change-spans.js";
import type { Section } from "../section.js";
import { renderTable, type TableColumn, tableBytes } from "../table.js";

/** How fresh every document is: when it was last read whole, and when it last changed. */
export function freshnessSection(facts: FreshnessFacts): Section {
  const { documents, as_of } = facts;
  return {
    id: "freshness",
    title: "Freshness of every document",
    lead: leadOf(facts),
    body: [
      renderOthers(facts),
      renderChangeSpans(facts),
      renderTable(columnsAt(as_of), documents, { caption: "Freshness of documents", bytes: tableBytes }),
    ],
  };
}

const meanings: readonly (readonly [state: ReadState, tone: Tone, meaning: string])[] = [
  ["fresh", "good", ""],
  ["stale", "warn", "this run could not read them whole; the database of the job has the rows of an earlier one"],
  ["unstable", "warn", "they changed while this run read them"],
  ["never read", "bad", "no run has read them whole so far"],
  ["not in this run", "quiet", "an earlier run had them; they were deleted since, or this run was not asked for them"],
];

function leadOf({ states, documents, as_of, has_history }: FreshnessFacts): HtmlValue {
  const all = sum(Object.values(states));
  if (all === 0) return "The dump holds no document.";
  const fresh =
    states.fresh === all
      ? `${all === 1 ? "The one document is" : `All ${all.toLocaleString("en-US")} documents are`} fresh: this run read everything.`
      : `${states.fresh.toLocaleString("en-US")} of ${countText(all, "document")} ${states.fresh === 1 ? "is fresh: this run read it" : "are fresh: this run read them"} whole.`;
  // Fresh documents come last but for those of other runs: where one is shown, every other document of this run is.
  const here = documents.rows.filter(({ state }) => state !== "not in this run");
  const isKnown = documents.rows.length === documents.total || here.some(({ state }) => state === "fresh");
  const oldest = isKnown ? least(here, ({ changed_at }) => changed_at ?? Number.POSITIVE_INFINITY) : undefined;
  const change =
    oldest?.changed_at != null &&
    html` The oldest last change is that of ${documentName(oldest)}, ${ageText(as_of - oldest.changed_at)} before this run.`;
  const unknown = !has_history && states.fresh < all && " Without the database of the job nobody knows earlier reads.";
  return [fresh, change, unknown];
}

/** The states of documents that this run did not read whole, with their meaning. */
function renderOthers({ states }: FreshnessFacts): HtmlValue {
  const others = meanings.filter(([state]) => state !== "fresh" && states[state] > 0);
  const items = others.map(
    ([state, tone, meaning]) =>
      html`<li>${stateText(tone, `${states[state].toLocaleString("en-US")} ${state}`)}: ${meaning}.</li>\n`,
  );
  return items.length > 0 && html`<ul class="states">${items}</ul>`;
}

function columnsAt(asOf: number): readonly TableColumn<DocumentFreshness>[] {
  const toneOf = (state: ReadState) => meanings.find(([each]) => each === state)?.[1] ?? "quiet";
  return [
    { title: "Document", cell: documentCell },
    { title: "State", cell: ({ state }) => stateText(toneOf(state), state) },
    { title: "Last change", cell: ({ changed_at }) => timeText(changed_at), sort: ({ changed_at }) => changed_at },
    {
      title: "Unchanged for",
      cell: ({ changed_at }) => (changed_at === null ? "–" : ageText(asOf - changed_at)),
      sort: ({ changed_at }) => (changed_at === null ? null : asOf - changed_at),
      isNumber: true,
    },
    { title: "Last read whole", cell: ({ read_well_at }) => timeText(read_well_at), sort: (row) => row.read_well_at },
    { title: "Chunks", cell: ({ chunks }) => numberText(chunks), sort: ({ chunks }) => chunks, isNumber: true },
  ];
}
