import { countText, lostText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { type Page, terminalText } from "../../cli/text.js";
import type {
  ChildRestore,
  ChunkRestore,
  DocumentPlan,
  Evidence,
  ListedLoss,
  ManualEdit,
  PlanCounts,
  RestorePlan,
} from "../../compare/lost/restore-plan.js";

import type { RestoreResult } from "../../restore/lost/restore-options.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { nameAndId } from "../../words.js";
import { firstOf, nextCommand, placeOf, renderMustKnow, rowLines } from "./rows.js";

const mostDocuments = 100;

/**
 * Renders the plan of a restore: for each document the rows to write and the rows left alone, then totals, warnings and the next
 * commands. Without an invocation, it shows no commands, because a question follows.
 */
export function renderPlan(result: RestoreResult, page: Page, invocation?: Invocation): string {
  const { run, base_url, against, plan, counts } = result;
  const wrapped = (text: string) => wrapToWidth(text, page.columns, "  ");
  const target = against === null ? `the current documents at ${terminalText(base_url)}` : terminalText(against, 400);
  const head = wrapped(`Run ${run.run_id} of job ${run.job}, compared with ${target}.`);
  if (result.status === "nothing to restore")
    return [
      ...head,
      "",
      ...wrapped(`${page.paint.strong(page.paint.good("nothing to restore"))}: ${nothingText(result)}`),
    ].join("\n");
  const shown = plan.documents.filter(isWorthShowing);
  return [
    ...head,
    ...wrapped(`${lostText(result.lost, result.manual_edits)}.`),
    ...(shown.some(hasTexts) ? wrapped("- text now · + text after the restore").map(page.paint.faint) : []),
    ...firstOf(
      shown,
      mostDocuments,
      (document) => ["", ...renderDocumentPlan(document, page)],
      (more) => ["", ...wrapped(`… and ${countText(more, "more document")}: --json lists all`)],
    ),
    "",
    ...renderTotals(plan.documents, counts, page),
    ...(counts.rows > 0 || (invocation === undefined && shown.some(hasTexts)) ? renderMustKnow(mustKnow, page) : []),
    ...(invocation === undefined ? [] : renderNext(result, page, invocation)),
  ].join("\n");
}

function hasTexts({ restores, listed }: DocumentPlan): boolean {
  return restores.length + listed.length > 0;
}

function isWorthShowing({ refused, restores, listed, losses }: DocumentPlan): boolean {
  return refused !== null || restores.length + listed.length + losses.length > 0;
}

function nothingText({ plan, lost }: RestoreResult): string {
  const present = plan.documents.reduce((sum, document) => sum + document.present, 0);
  const gone =
    lost > 0
      ? `; ${countText(lost, "other row")} ${lost === 1 ? "is" : "are"} gone, without evidence of a manual edit`
      : "";
  if (present === 0) return `there is no evidence that a person made or edited anything in this run${gone}`;
  return `all ${countText(present, "manual edit")} are there${gone}`;
}

function renderTotals(documents: readonly DocumentPlan[], counts: PlanCounts, { paint, columns }: Page) {
  const listed = documents.flatMap((document) => document.listed);
  const count = (...whys: readonly ListedLoss["why"][]) => listed.filter(({ why }) => whys.includes(why)).length;
  const counted = (rows: number, what: string) => (rows > 0 ? [`${countText(rows, "row")} ${what}`] : []);
  const refused = documents.filter((document) => document.refused !== null).length;
  const lines = [
    `${paint.strong("plan")}: ${countText(counts.rows, "row")} to write${counts.rows > 0 ? `: ${writtenText(counts)}` : ""}`,
    ...(counts.rows > 0
      ? [
          `${countText(counts.writes, "write request")} at the least, ${countText(counts.characters, "character")} to embed`,
        ]
      : []),
    ...counted(
      count("needs your decision"),
      count("needs your decision") === 1 ? "needs your decision" : "need your decision",
    ),
    ...counted(count("found inside"), "found inside a current chunk"),
    ...counted(count("cannot be restored"), "cannot be restored"),
    ...counted(count("left out"), "left out, as you decided"),
    ...(refused > 0 ? [`${countText(refused, "document")} refused`] : []),
  ];
  return lines.flatMap((line) => wrapToWidth(line, columns, "  "));
}

/** `3 chunks edited, 2 chunks added`. */
function writtenText(counts: PlanCounts): string {
  const kinds: readonly (readonly [count: number, noun: string, done: string])[] = [
    [counts.chunks_updated, "chunk", "edited"],
    [counts.chunks_added, "chunk", "added"],
    [counts.chunks_disabled, "chunk", "disabled"],
    [counts.children_replaced, "child chunk", "replaced"],
    [counts.children_added, "child chunk", "added"],
  ];
  return kinds
    .filter(([count]) => count > 0)
    .map(([count, noun, done]) => `${countText(count, noun)} ${done}`)
    .join(", ");
}

const mustKnow = [
  "Not restored: ids, positions of added chunks (they come last), hit counts, times, authors, and keywords that were emptied.",
  "kbdump reads each chunk again right before it writes it, but the API has no conditional writes: an edit in that moment is overwritten. Choose a quiet time.",
  "The next re-index loses all of it again. To keep a text for good, put it into the source document.",
];

function renderNext({ counts, plan, plan_file }: RestoreResult, page: Page, invocation: Invocation): readonly string[] {
  const write = counts.rows > 0 ? nextCommand("Write it:", applyCommand(invocation), page) : [];
  if (plan_file === null) return [...write, ...decideLines(plan, invocation, page)];
  const title = `The plan is in ${terminalText(plan_file, 400)}: say yes or no there, then write it:`;
  const command = commandWith(undecided(invocation), ["--plan", plan_file, "--apply"]);
  return [...write, ...nextCommand(title, command, page)];
}

/** Maximum rows of each kind to show per document. */
const mostWritten = 50;
const mostOthers = 10;

const margin = "  ";
/** Below this many columns, rows are not indented under their section title, because an id would not fit. */
const roomy = 60;

const evidenceTexts: Readonly<Record<Evidence, string>> = {
  updated_by: "",
  created_at: "created after the indexing",
  disabled_by: "",
  customized: "",
  history: "the history of the job has the text before the edit",
  neighbours: "the other text is between the same two chunks, and file and settings are the same",
  chosen: "you decided so",
};

/** Renders the plan of a document: rows to write, rows left alone and why, and losses that no request can restore. */
function renderDocumentPlan(document: DocumentPlan, { paint, columns }: Page): readonly string[] {
  const {
    document_id: id,
    document_name: name,
    refused,
    restores,
    listed,
    losses,
    present,
    lost,
    manual_edits,
  } = document;
  const inner = { paint, columns: columns - margin.length };
  const wrapped = (text: string) => wrapToWidth(text, inner.columns, margin);
  const below = { paint, columns: inner.columns - rowMargin(inner).length };
  const written = restores.map((restore) => chunkLines(restore, below));
  const listedAs = (...whys: readonly ListedLoss["why"][]) =>
    listed.filter(({ why }) => whys.includes(why)).map((loss) => listedLines(loss, below));
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
    ...section("Needs your decision:", listedAs("needs your decision"), mostOthers, inner),
    ...section("Found inside a current chunk, so left alone:", listedAs("found inside"), mostOthers, inner),
    ...section("Left alone:", listedAs("cannot be restored", "left out"), mostOthers, inner),
    ...section("Cannot be brought back:", gone, mostOthers, inner),
    ...(lost > manual_edits
      ? wrapped(`also lost: ${countText(lost - manual_edits, "row")} without evidence of a manual edit`).map(
          paint.faint,
        )
      : []),
    ...(present > 0 ? wrapped(`still there: ${countText(present, "manual edit")}`).map(paint.faint) : []),
  ];
  const head = wrapToWidth(nameAndId(name, terminalText(id, 80)), columns, margin);
  return [...head.map(paint.strong), ...lines.map((line) => margin + line)];
}

function section(title: string, rows: readonly (readonly string[])[], most: number, page: Page): readonly string[] {
  if (rows.length === 0) return [];
  const others = (more: number) => [page.paint.faint(`… and ${countText(more, "other")}: --json lists all`)];
  const lines = firstOf(rows, most, (row) => row, others);
  return [...wrapToWidth(title, page.columns), ...lines.map((line) => rowMargin(page) + line)];
}

function rowMargin({ columns }: Page): string {
  return columns < roomy ? "" : margin;
}

function chunkLines(restore: ChunkRestore, page: Page): readonly string[] {
  const { target, texts, disable, children } = restore;
  const place = placeOf({ level: "chunk", position: restore.position, id: restore.chunk_id });
  const remarks = [
    editText(restore.edit),
    evidenceOf(restore),
    ...(target === null ? [] : [`its id is now ${terminalText(target.id, 80)}`]),
    ...(texts !== null && target === null ? ["it comes back at the end of the document"] : []),
    ...(texts === null && disable ? [terminalText(target?.content ?? "", 80)] : []),
    ...(target?.status === "error" ? ["the chunk there is in error, and is repaired"] : []),
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

function childLines(
  { child_id, position, edit, evidence, content, twin }: ChildRestore,
  page: Page,
): readonly string[] {
  const remarks = [
    editText(edit),
    evidenceText(evidence),
    ...(twin === null ? ["it comes back at the end of its chunk"] : []),
  ];
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
      title: placeOf(loss),
      paint: page.paint.warn,
      remarks: [editText(loss.edit), terminalText(loss.reason, 400), choiceText(loss.choice)].filter(Boolean),
      now: loss.now === null ? null : { content: loss.now, answer: loss.now_answer },
      next: { content: loss.content, answer: loss.answer },
    },
    page,
  );
}

/** Says what happens to a listed row if you decide to restore it. */
function choiceText(choice: ListedLoss["choice"]): string {
  if (choice === null) return "kbdump cannot restore it";
  return choice === "replace" ? "it can replace the text there" : "it can be added at the end";
}

const editWords: Readonly<Record<ManualEdit["kind"], string>> = {
  edited: "edited",
  added: "added",
  disabled: "disabled",
  customized: "made or edited by hand",
};

/** `edited by 5f2c… on 2026-11-18 14:02 UTC` */
export function editText(edit: ManualEdit | null): string {
  if (edit === null) return "";
  const by = edit.by === null ? "" : ` by ${terminalText(edit.by, 80)}`;
  const at = edit.at === null ? "" : ` on ${edit.at.slice(0, 16).replace("T", " ")} UTC`;
  return `${editWords[edit.kind]}${by}${at}`;
}

/** Words the evidence. The job's history shows when an added chunk appeared, and that a disabled chunk was enabled before. */
function evidenceOf({ target, texts, evidence }: ChunkRestore): string {
  if (target === null) return evidenceText(evidence, "the history of the job shows when it was added");
  return texts === null ? evidenceText(evidence, "the history of the job shows it enabled") : evidenceText(evidence);
}

function evidenceText(evidence: readonly Evidence[], history = evidenceTexts.history): string {
  const texts = evidence.map((each) => (each === "history" ? history : evidenceTexts[each]));
  return texts.filter(Boolean).join("; ");
}

/** The same command with `--apply`, which writes the plan. */
export function applyCommand(invocation: Invocation): string {
  return commandWith(invocation, ["--apply"]);
}

/** The commands for rows that need a decision; empty if there are none. */
export function decideLines({ documents }: RestorePlan, invocation: Invocation, { columns }: Page): readonly string[] {
  const open = documents
    .flatMap(({ listed }) => listed)
    .filter(({ why, choice }) => why === "needs your decision" && choice !== null);
  if (open.length === 0) return [];
  return [
    "",
    ...wrapToWidth(
      `Decide on ${countText(open.length, "row")}: write the plan as a list, say yes or no there, and pass it with --plan:`,
      columns,
    ),
    `  ${commandWith(undecided(invocation), ["--plan-out", "plan.yaml"], false)}`,
    ...wrapToWidth("or add them all at the end of their documents:", columns),
    `  ${commandWith(undecided(invocation), ["--manual-edits"], false)}`,
  ];
}

/** The command without the flags that decide on such rows: `--manual-edits` and `--plan`. */
function undecided(invocation: Invocation): Invocation {
  return withoutOption(withoutSwitches(invocation, ["manual-edits"]), "plan");
}

/** The same command with `more` flags. `isApplied`: it compares with the current documents, so `--against` is dropped. */
function commandWith(invocation: Invocation, more: readonly string[], isApplied = true): string {
  const plain = withoutOption(withoutSwitches(invocation, ["apply", "yes", "json"]), "plan-out");
  return commandText(isApplied ? withoutOption(plain, "against") : plain, more);
}
