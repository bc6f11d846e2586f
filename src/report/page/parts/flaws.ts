import { countText } from "../../../amounts.js";
import type { FlawFacts } from "../../flaw-facts.js";
import { type Html, type HtmlValue, html } from "../html.js";
import { drawFlawCounts } from "../pictures/flaw-counts.js";
import type { Section } from "../section.js";
import { renderDisabled, renderDuplicates, renderErrors, renderOrphans } from "./flaw-tables.js";

/** Rows that deserve a look: copies, child chunks without a parent, chunks with errors, and disabled ones. */
export function flawsSection(facts: FlawFacts): Section {
  const { duplicates, copies, orphans, errors, disabled } = facts;
  const counts = [
    { title: "Duplicates", count: copies.chunks },
    { title: "Orphans", count: orphans.total },
    { title: "Errors", count: errors.total },
    { title: "Disabled", count: disabled.total },
  ];
  const isClean = counts.every(({ count }) => count === 0);
  return {
    id: "flaws",
    title: "Duplicates, orphans, errors, disabled",
    lead: isClean
      ? "No chunk is a copy, has an error or is disabled, and every child chunk has its parent."
      : leadOf(facts),
    body: isClean
      ? ""
      : [
          drawFlawCounts(counts),
          part(
            "Duplicates",
            copies.chunks,
            `${countText(copies.chunks, "chunk")} with ${countText(copies.characters, "character")} ${copies.chunks === 1 ? "repeats" : "repeat"} a text that stands elsewhere. They cost storage and tokens, and take places in the results of a search. Keep one of each, and remove the others from their sources.${duplicates.rows.some(({ answers }) => answers > 1) ? " Where their answers differ, decide first which one holds." : ""}`,
            renderDuplicates(duplicates),
          ),
          part(
            "Orphans",
            orphans.total,
            "The parent of these child chunks is not in the dump. The service may have deleted it meanwhile, or its document is not complete. A search may still find them. Index the document anew.",
            renderOrphans(orphans),
          ),
          part(
            "Errors",
            errors.total,
            "The service could not index these chunks, so that no search finds them. Remove the cause, such as a limit of the embedding model, then save the chunks again or index the document anew.",
            renderErrors(errors),
          ),
          part(
            "Disabled",
            disabled.total,
            "Somebody switched these chunks off: no search finds them. Check that this is still meant. A re-index enables them again.",
            renderDisabled(disabled),
          ),
        ],
  };
}

function leadOf({ copies, orphans, errors, disabled }: FlawFacts): string {
  const found = [
    copies.chunks > 0 &&
      `${countText(copies.chunks, "chunk")} ${copies.chunks === 1 ? "is a copy" : "are copies"} of others`,
    orphans.total > 0 && `${countText(orphans.total, "child chunk")} without a parent`,
    errors.total > 0 && `${countText(errors.total, "chunk")} with an error`,
    disabled.total > 0 && countText(disabled.total, "disabled chunk"),
  ].filter((text) => text !== false);
  return `Rows that deserve a look: ${found.join("; ")}.`;
}

function part(title: string, count: number, advice: string, table: HtmlValue): Html {
  return html`<h3>${title}</h3>
${count === 0 ? html`<p>None.</p>` : html`<p>${advice}</p>${table}`}`;
}
