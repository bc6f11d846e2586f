import { countText } from "../../amounts.js";
import type {
  ChildRestore,
  ChunkRestore,
  DocumentPlan,
  Evidence,
  ListedLoss,
  WhyListed,
} from "../../compare/lost/restore-plan.js";
import { nameAndId } from "../../words.js";
import { wrapToWidth } from "../display-width.js";
import { type Page, terminalText } from "../text.js";
import { placeOf, rowLines } from "./row-lines.js";

/** Rows of one kind that are shown of a document. */
const mostWritten = 50;
const mostOthers = 10;

const margin = "  ";
/** On fewer columns, rows have no margin below the title of their section, as an id would not fit beside it. */
const roomy = 60;

const evidenceTexts: Readonly<Record<Evidence, string>> = {
  updated_by: "updated_by names who edited it",
  disabled_by: "disabled_by names who disabled it",
  customized: "its type is customized",
  history: "the history of the job has what stood there before",
  chosen: "you chose it",
};

/** The reasons that are shown first: rows that were certainly made by hand. */
const order: readonly WhyListed[] = ["conflict", "unknown before", "no place", "disabled", "no evidence"];

/** The listed rows of a document, those first that were certainly made by hand. */
export function sortListed(listed: readonly ListedLoss[]): readonly ListedLoss[] {
  return listed.toSorted((one, other) => order.indexOf(one.why) - order.indexOf(other.why));
}

/** Renders the plan of a document: what is written, what is left alone and why, and what no request brings back. */
export function renderDocumentPlan(document: DocumentPlan, { paint, columns }: Page): readonly string[] {
  const { document_id: id, document_name: name, refused, restores, listed, losses, present } = document;
  const inner = { paint, columns: columns - margin.length };
  const wrapped = (text: string) => wrapToWidth(text, inner.columns, margin);
  const below = { paint, columns: inner.columns - rowMargin(inner).length };
  const written = restores.map((restore) => chunkLines(restore, below));
  const others = sortListed(listed).map((loss) => listedLines(loss, below));
  const gone = losses.map((loss) =>
    wrapToWidth(
      `${loss.part} of ${placeOf(loss)}: ${terminalText(loss.reason, 300)}`,
      below.columns,
      columns < roomy ? "" : margin,
    ),
  );
  const lines = [
    ...(refused === null ? [] : wrapped(`refused: ${terminalText(refused, 400)}`).map(paint.bad)),
    ...section("To write:", written, mostWritten, inner),
    ...section("Left alone:", others, mostOthers, inner),
    ...section("Cannot be brought back:", gone, mostOthers, inner),
    ...(present > 0 ? wrapped(`still there: ${countText(present, "row")} made by hand`).map(paint.faint) : []),
  ];
  const head = wrapToWidth(nameAndId(name, terminalText(id, 80)), columns, margin);
  return [...head.map(paint.strong), ...lines.map((line) => margin + line)];
}

function section(title: string, rows: readonly (readonly string[])[], most: number, page: Page): readonly string[] {
  if (rows.length === 0) return [];
  const more = rows.length - most;
  const others = more > 0 ? [page.paint.faint(`… and ${countText(more, "other")}: --json lists all`)] : [];
  return [title, ...[...rows.slice(0, most).flat(), ...others].map((line) => rowMargin(page) + line)];
}

function rowMargin({ columns }: Page): string {
  return columns < roomy ? "" : margin;
}

function chunkLines(restore: ChunkRestore, page: Page): readonly string[] {
  const { target, texts, disable, children } = restore;
  const place = placeOf({ level: "chunk", position: restore.position, id: restore.chunk_id });
  const remarks = [
    evidenceOf(restore),
    ...(target === null ? [] : [`its id is now ${terminalText(target.id, 80)}`]),
    ...(texts !== null && target === null ? ["it comes back at the end of the document"] : []),
    ...(texts === null && disable ? [terminalText(target?.content ?? "", 80)] : []),
    ...(target?.status === "error" ? ["the chunk that stands there is in error, and is repaired"] : []),
    ...(texts !== null && disable ? ["it is disabled afterwards"] : []),
  ];
  const verb = texts === null ? (disable ? "disable" : "child chunks of") : target === null ? "add" : "edit";
  const row = rowLines(
    {
      title: `${verb} ${place}`,
      paint: verb === "add" ? page.paint.good : page.paint.strong,
      remarks: remarks.filter(Boolean),
      now: texts === null ? null : target,
      next: texts,
    },
    page,
  );
  const inner = { paint: page.paint, columns: page.columns - margin.length };
  return [...row, ...children.flatMap((child) => childLines(child, inner)).map((line) => margin + line)];
}

function childLines({ child_id, position, evidence, content, twin }: ChildRestore, page: Page): readonly string[] {
  const remarks = [evidenceText(evidence), ...(twin === null ? ["it comes back at the end of its chunk"] : [])];
  return rowLines(
    {
      title: `${twin === null ? "add" : "replace"} ${placeOf({ level: "child_chunk", position, id: child_id })}`,
      ...(twin === null ? { paint: page.paint.good } : {}),
      remarks: remarks.filter(Boolean),
      now: twin,
      next: { content },
    },
    page,
  );
}

function listedLines(loss: ListedLoss, page: Page): readonly string[] {
  return rowLines(
    {
      title: `${loss.why}: ${placeOf(loss)}`,
      paint: page.paint.warn,
      remarks: [terminalText(loss.reason, 400), choiceText(loss.choice)],
      now: loss.now === null ? null : { content: loss.now },
      next: { content: loss.content },
    },
    page,
  );
}

/** Says what choosing a listed row does. */
export function choiceText(choice: ListedLoss["choice"]): string {
  if (choice === null) return "it cannot be chosen";
  return choice === "replace"
    ? "chosen with --chunk, it replaces the text that stands there"
    : "chosen with --chunk, it is added at the end";
}

/** The history proves another thing of a chunk that was added, and of one that is only disabled. */
function evidenceOf({ target, texts, evidence }: ChunkRestore): string {
  if (target === null) return evidenceText(evidence, "the history of the job saw it come");
  return texts === null ? evidenceText(evidence, "the history of the job has it enabled") : evidenceText(evidence);
}

function evidenceText(evidence: readonly Evidence[], history = evidenceTexts.history): string {
  return evidence.map((each) => (each === "history" ? history : evidenceTexts[each])).join("; ");
}
