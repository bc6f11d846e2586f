import { greatest, sum } from "d3-array";
import { countText, durationText } from "../../../amounts.js";
import type { DocumentIndexing, IndexingFacts } from "../../state-facts.js";
import { documentName } from "../cells.js";
import { foreign } from "../foreign.js";
import { type HtmlValue, html } from "../html.js";

/** The documents of the job's batches that are not indexed to the end. */
export interface NotIndexed {
  /** Those whose indexing ended in an error. */
  readonly failed: number;
  /** Those that wait, are at work or are paused. */
  readonly open: number;
  /** Both kinds in words. */
  readonly text: HtmlValue;
}

export function notIndexedOf({ states, documents }: IndexingFacts): NotIndexed {
  const isFailed = ({ status }: { readonly status: string }) => status === "error";
  const failed = sum(states.filter(isFailed), (state) => state.documents);
  const openStates = states.filter((state) => !isFailed(state) && state.status !== "completed");
  const open = sum(openStates, (state) => state.documents);
  const kinds = openStates.map((state, at) => html`${at > 0 && ", "}${state.documents} ${foreign(state.status, 30)}`);
  return {
    failed,
    open,
    text: [
      failed > 0 && [
        countText(failed, "document"),
        " ended in an error",
        failed === 1 && failedName(documents.rows),
        ".",
      ],
      open > 0 &&
        html`${failed > 0 && " "}${countText(open, "document")} not indexed to the end: ${kinds}.${longestWait(documents.rows)}`,
    ],
  };
}

/** The name of the one document that failed. */
function failedName(rows: readonly DocumentIndexing[]): HtmlValue {
  const failed = rows.find(({ indexing_status }) => indexing_status === "error");
  return failed && html`: ${documentName(failed)}`;
}

/** The document that was seen without a move for the longest time; one that ended in an error does not move any more. */
function longestWait(rows: readonly DocumentIndexing[]): HtmlValue {
  const waiting = rows.filter(({ indexing_status, unmoved }) => indexing_status !== "error" && (unmoved ?? 0) > 0);
  const still = greatest(waiting, ({ unmoved }) => unmoved ?? 0);
  return still && html` ${documentName(still)} has not moved for ${durationText(still.unmoved ?? 0)}.`;
}
