import { countText } from "../../amounts.js";
import type { Against } from "../../restore/copy/against.js";
import { wrapToWidth } from "../display-width.js";
import { type Page, terminalText } from "../text.js";
import { renderDifferences } from "./differences.js";

/** Renders the comparison of a run with a service: the verdict, parts that were not compared, and every difference; for people. */
export function renderAgainst(against: Against, page: Page): string {
  const { base_url, copies, documents, chunks, child_chunks, differences, notes } = against;
  const { paint, columns } = page;
  const facts = [
    countText(documents, copies ? "restored document" : "document"),
    countText(chunks, "chunk"),
    countText(child_chunks, "child chunk"),
  ];
  const verdict =
    differences.length === 0
      ? paint.good("as in the run")
      : paint.bad(`${countText(differences.length, "difference")} to the run`);
  const lines = [
    `${paint.strong(verdict)}: ${facts.join(", ")} at ${terminalText(new URL(base_url).host)}`,
    ...notes.map((note) => paint.faint(`note: ${terminalText(note, 600)}`)),
  ];
  return [
    ...lines.flatMap((line) => wrapToWidth(line, columns, "  ")),
    ...renderDifferences("Differences:", differences, new Map(), page),
  ].join("\n");
}
