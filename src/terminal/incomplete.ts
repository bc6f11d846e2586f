import { countText } from "../amounts.js";
import type { RunResult } from "../run/make-run.js";
import { sentenceOf } from "../segments/document-result.js";
import { nameAndId } from "../words.js";
import { wrapToWidth } from "./display-width.js";
import { type Page, terminalText } from "./text.js";

/** Documents and warnings that are shown; the others stand in manifest.json. */
const shown = 10;

/** Renders the documents that are not complete, every other flaw of the run, and the commands that mend it. */
export function renderIncomplete(
  result: RunResult,
  commands: readonly string[],
  { paint, columns }: Page,
): readonly string[] {
  const { manifest, names, problems } = result;
  const incomplete = manifest.documents.filter(({ status }) => status !== "complete");
  const documents = incomplete.map(({ document_id: id, status, error }) => {
    const reason = terminalText(String(error), 400);
    return `${paint.bad(status)} ${terminalText(nameAndId(names.get(id), id))}: ${reason}`;
  });
  const listed = new Set(incomplete.map((row) => sentenceOf(row, names)));
  const others = manifest.warnings.filter((sentence) => !listed.has(sentence));
  const warnings = [...problems, ...others].map((sentence) => terminalText(sentence, 600));
  const mend = ["", "Once the cause is gone, read what is missing:", ...commands.map((command) => `  ${command}`)];
  return [
    ...section("Incomplete:", documents, "more document", columns),
    ...section("Warnings:", warnings, "more warning", columns),
    ...(manifest.status === "partial" ? mend : []),
  ];
}

/** The first lines below a title; nothing where there are none. */
function section(title: string, lines: readonly string[], noun: string, columns: number): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length - shown;
  return [
    "",
    title,
    ...lines.slice(0, shown).flatMap((line) => wrapToWidth(`  ${line}`, columns, "    ")),
    ...(more > 0 ? [`  … and ${countText(more, noun)} in manifest.json`] : []),
  ];
}
