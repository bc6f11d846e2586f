import { countText, lostText, numberText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { firstOf, inset, type Page, terminalText, wrapped } from "../../cli/text.js";
import {
  type ChildRestore,
  type ChunkRestore,
  type DocumentPlan,
  type Evidence,
  isMissed,
  type ListedLoss,
  type ManualEdit,
  type PlanCounts,
  type RestorePlan,
  type WhyListed,
} from "../../compare/lost/restore-plan.js";
import { type AppliedRow, isMissing, type RestoreResult, type RowOutcome } from "../../restore/lost/restore-options.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import {
  applyCommand,
  nextCommand,
  placeOf,
  renderMustKnow,
  renderPart,
  renderPlaces,
  renderTroubles,
  rowLines,
  type Trouble,
  unapplied,
  verdictText,
} from "./rows.js";

const mostDocuments = 100;

/**
 * Renders the plan of a restore: for each document the rows to write and the rows left alone, then totals, warnings and the next
 * commands. Without an invocation, it shows no commands, because a question follows.
 */
export function renderPlan(result: RestoreResult, page: Page, invocation?: Invocation): string {
  const { run, base_url, against, plan, counts } = result;
  const { good, strong, faint } = page.paint;
  const target = against === null ? `the current documents at ${terminalText(base_url)}` : terminalText(against, 400);
  const head = wrapped(`Run ${run.run_id} of job ${run.job}, compared with ${target}.`, page);
  if (result.status === "nothing to restore")
    return [...head, "", ...wrapped(`${strong(good("nothing to restore"))}: ${nothingText(result)}`, page)].join("\n");
  const shown = plan.documents.filter(
    (document) => document.refused !== null || document.losses.length > 0 || hasTexts(document),
  );
  const isTexts = shown.some(hasTexts);
  return [
    ...head,
    ...wrapped(`${lostText(result.lost, result.manual_edits)}.`, page),
    ...(isTexts ? wrapped("- text now · + text after the restore", page, faint) : []),
    ...firstOf(
      shown,
      mostDocuments,
      (document) => ["", ...renderDocumentPlan(document, page)],
      (more) => ["", ...wrapped(`… and ${countText(more, "more document")}: --json lists all`, page)],
    ),
    "",
    ...totalLines(plan.documents, counts, strong("plan")).flatMap((line) => wrapped(line, page)),
    ...(counts.rows > 0 || (invocation === undefined && isTexts) ? renderMustKnow(mustKnow, page) : []),
    ...(invocation === undefined ? [] : renderNext(result, page, invocation)),
  ].join("\n");
}

function hasTexts({ restores, listed }: DocumentPlan): boolean {
  return restores.length + listed.length > 0;
}

function nothingText({ plan, lost }: RestoreResult): string {
  const present = plan.documents.reduce((sum, document) => sum + document.present, 0);
  const areGone = `${countText(lost, "other row")} ${lost === 1 ? "is" : "are"} gone, without evidence of a manual edit`;
  const gone = lost > 0 ? `; ${areGone}` : "";
  if (present === 0) return `there is no evidence that a person made or edited anything in this run${gone}`;
  return `all ${countText(present, "manual edit")} are there${gone}`;
}

function totalLines(documents: readonly DocumentPlan[], counts: PlanCounts, title: string): readonly string[] {
  const listed = documents.flatMap((document) => document.listed);
  const count = (why: WhyListed) => listed.filter((loss) => loss.why === why).length;
  const open = count("needs your decision");
  const left = [
    [open, "row", open === 1 ? "needs your decision" : "need your decision"],
    [count("found inside"), "row", "found inside a current chunk"],
    [count("cannot be restored"), "row", "cannot be restored"],
    [count("left out"), "row", "left out, as you decided"],
    [documents.filter(({ refused }) => refused !== null).length, "document", "refused"],
  ] as const;
  const writing = [
    `${title}: ${countText(counts.rows, "row")} to write: ${writtenText(counts)}`,
    `${countText(counts.writes, "write request")} at the least, ${countText(counts.characters, "character")} to embed`,
  ];
  return [...(counts.rows > 0 ? writing : [`${title}: 0 rows to write`]), ...countedTexts(left)];
}

type Counted = readonly [count: number, noun: string, words: string];

/** `3 chunks edited`: a text for each count above 0. */
function countedTexts(all: readonly Counted[]): readonly string[] {
  return all.filter(([count]) => count > 0).map(([count, noun, words]) => `${countText(count, noun)} ${words}`);
}

function writtenText(counts: PlanCounts): string {
  return countedTexts([
    [counts.chunks_updated, "chunk", "edited"],
    [counts.chunks_added, "chunk", "added"],
    [counts.chunks_disabled, "chunk", "disabled"],
    [counts.children_replaced, "child chunk", "replaced"],
    [counts.children_added, "child chunk", "added"],
  ]).join(", ");
}

/** The advice at the end of a plan, and of the result of a restore. */
const keepText = "The next re-index loses all of it again. To keep a text for good, put it into the source document.";

const mustKnow = [
  "Not restored: ids, positions of added chunks (they come last), hit counts, times, authors, and keywords that were emptied.",
  "kbdump reads each chunk again right before it writes it, but the API has no conditional writes: an edit in that moment is overwritten. Choose a quiet time.",
  keepText,
];

function renderNext({ counts, plan, plan_file }: RestoreResult, page: Page, invocation: Invocation): readonly string[] {
  const write = counts.rows > 0 ? nextCommand("Write it:", applyCommand(invocation), page) : [];
  if (plan_file === null) return [...write, ...decideLines(plan, invocation, page)];
  const title = `The plan is in ${terminalText(plan_file, 400)}: say yes or no there, then write it:`;
  return [...write, ...nextCommand(title, applyCommand(undecided(invocation), "--plan", plan_file), page)];
}

/** Maximum rows of each kind to show per document. */
const mostWritten = 50;
const mostOthers = 10;

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
function renderDocumentPlan(document: DocumentPlan, page: Page): readonly string[] {
  const { refused, restores, listed, losses, present, lost, manual_edits } = document;
  const { faint, bad } = page.paint;
  const inner = inset(page);
  const isNarrow = inner.columns < roomy;
  const below = isNarrow ? inner : inset(inner);
  const section = (title: string, rows: readonly (readonly string[])[], most = mostOthers) => {
    if (rows.length === 0) return [];
    const others = (more: number) => [faint(`… and ${countText(more, "other")}: --json lists all`)];
    const lines = firstOf(rows, most, (row) => row, others);
    return [...wrapToWidth(title, inner.columns), ...lines.map((line) => `${isNarrow ? "" : "  "}${line}`)];
  };
  const listedAs = (...whys: readonly WhyListed[]) =>
    listed.filter(({ why }) => whys.includes(why)).map((loss) => listedLines(loss, below));
  const gone = losses.map((loss) =>
    wrapToWidth(
      `${loss.part} of ${placeOf(loss)}: ${terminalText(loss.reason, 300)}`,
      below.columns,
      page.columns < roomy ? "" : "  ",
    ),
  );
  const unproved = `also lost: ${countText(lost - manual_edits, "row")} without evidence of a manual edit`;
  const lines = [
    ...(refused === null ? [] : wrapped(`refused: ${terminalText(refused, 400)}`, inner, bad)),
    ...section(
      "To write:",
      restores.map((restore) => chunkLines(restore, below)),
      mostWritten,
    ),
    ...section("Needs your decision:", listedAs("needs your decision")),
    ...section("Found inside a current chunk, so left alone:", listedAs("found inside")),
    ...section("Left alone:", listedAs("cannot be restored", "left out")),
    ...section("Cannot be brought back:", gone),
    ...(lost > manual_edits ? wrapped(unproved, inner, faint) : []),
    ...(present > 0 ? wrapped(`still there: ${countText(present, "manual edit")}`, inner, faint) : []),
  ];
  return renderPart(document.document_name, document.document_id, lines, page);
}

function chunkLines(restore: ChunkRestore, page: Page): readonly string[] {
  const { target, texts, disable, children } = restore;
  const verb = texts === null ? (disable ? "disable" : "child chunks of") : target === null ? "add" : "edit";
  const row = {
    title: `${verb} ${placeOf({ level: "chunk", position: restore.position, id: restore.chunk_id })}`,
    paint: verb === "add" ? page.paint.good : page.paint.strong,
    remarks: [
      editText(restore.edit),
      evidenceOf(restore),
      target !== null && `its id is now ${terminalText(target.id, 80)}`,
      verb === "add" && "it comes back at the end of the document",
      verb === "disable" && terminalText(target?.content ?? "", 80),
      target?.status === "error" && "the chunk there is in error, and is repaired",
      texts !== null && disable && "it is disabled afterwards",
    ],
    now: texts === null ? null : target,
    next: texts,
  };
  const inner = children.flatMap((child) => childLines(child, inset(page)));
  return [...rowLines(row, page), ...inner.map((line) => `  ${line}`)];
}

function childLines(child: ChildRestore, page: Page): readonly string[] {
  const { child_id: id, position, content, twin } = child;
  return rowLines(
    {
      title: `${twin === null ? "add" : "replace"} ${placeOf({ level: "child_chunk", position, id })}`,
      ...(twin === null ? { paint: page.paint.good } : {}),
      remarks: [
        editText(child.edit),
        evidenceText(child.evidence),
        twin === null && "it comes back at the end of its chunk",
      ],
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
      remarks: [editText(loss.edit), terminalText(loss.reason, 400), choiceText(loss.choice)],
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
function editText(edit: ManualEdit | null): string {
  if (edit === null) return "";
  const by = edit.by === null ? "" : ` by ${terminalText(edit.by, 80)}`;
  const at = edit.at === null ? "" : ` on ${edit.at.slice(0, 16).replace("T", " ")} UTC`;
  return `${editWords[edit.kind]}${by}${at}`;
}

/** Says what proves the manual edit. For an added or a disabled chunk, the job's history proves something else than for an edited one. */
function evidenceOf({ target, texts, evidence }: ChunkRestore): string {
  if (target === null) return evidenceText(evidence, "the history of the job shows when it was added");
  return texts === null ? evidenceText(evidence, "the history of the job shows it enabled") : evidenceText(evidence);
}

function evidenceText(evidence: readonly Evidence[], history = evidenceTexts.history): string {
  const texts = evidence.map((each) => (each === "history" ? history : evidenceTexts[each]));
  return texts.filter(Boolean).join("; ");
}

/** The commands for rows that need a decision; empty if there are none. */
function decideLines({ documents }: RestorePlan, invocation: Invocation, { columns }: Page): readonly string[] {
  const open = documents
    .flatMap(({ listed }) => listed)
    .filter(({ why, choice }) => why === "needs your decision" && choice !== null);
  if (open.length === 0) return [];
  const command = (flags: readonly string[]) => `  ${commandText(unapplied(undecided(invocation)), flags)}`;
  const title = `Decide on ${countText(open.length, "row")}: write the plan as a list, say yes or no there, and pass it with --plan:`;
  return [
    "",
    ...wrapToWidth(title, columns),
    command(["--plan-out", "plan.yaml"]),
    ...wrapToWidth("or add them all at the end of their documents:", columns),
    command(["--manual-edits"]),
  ];
}

/** The command without the flags that decide on such rows: `--manual-edits` and `--plan`. */
function undecided(invocation: Invocation): Invocation {
  return withoutOption(withoutSwitches(invocation, ["manual-edits"]), "plan");
}

const mostMissing = { documents: 100, rows: 10 };
const mostFound = { documents: 100, rows: 100 };

/** Renders the result of a restore: the verdict, every missing row and why, the findings of the proof, and the paths. */
export function renderRestored(result: RestoreResult, page: Page, invocation: Invocation): string {
  const { status, applied, plan, differences } = result;
  if (applied === null || status === "planned" || status === "nothing to restore")
    return renderPlan(result, page, invocation);
  const failed = applied.rows.filter(isMissing).map(troubleOfRow);
  const refused = plan.documents.flatMap(({ document_id: id, refused }) =>
    refused === null ? [] : [{ id, row: null, reason: `refused: ${refused}` }],
  );
  const listed = plan.documents.flatMap(({ document_id: id, listed }) => listed.map((loss) => ({ id, loss })));
  const left = listed.filter(({ loss }) => isMissed(loss)).map(({ id, loss }) => troubleOfLoss(id, loss));
  const found = (differences ?? []).map((row) => ({ id: row.document_id, row, reason: row.reason }));
  const others = listed.length - left.length;
  const without = `${countText(others, "other row")} left alone, found inside a chunk or as you decided: --json lists all`;
  const names = new Map(plan.documents.map(({ document_id, document_name }) => [document_id, document_name]));
  const isWritten = !isNothingWritten(result);
  return [
    ...wrapped(verdictOf(result, page), page),
    ...(isWritten ? wrapped(factsOf(result), page, page.paint.faint) : []),
    ...renderTroubles("Not restored:", [...refused, ...failed, ...left], mostMissing, names, page),
    ...renderTroubles("Found by the proof:", found, mostFound, names, page),
    ...(refused.length + failed.length > 0
      ? nextCommand("Once the cause is gone:", applyCommand(invocation), page)
      : []),
    ...(left.length > 0 ? decideLines(plan, invocation, page) : []),
    ...(others > 0 ? ["", ...wrapped(without, page)] : []),
    ...renderPlaces({ dump: [result.undo, undoText], journal: result.journal }, page),
    ...(isWritten ? ["", ...wrapped(keepText, page)] : []),
  ].join("\n");
}

function isNothingWritten({ applied }: RestoreResult): boolean {
  return applied?.rows.length === 0 && applied.writes === 0;
}

const undoText = "the undo: the documents before the first write";

function verdictOf(result: RestoreResult, page: Page): string {
  const { paint } = page;
  const { status, plan, applied } = result;
  const rows = applied?.rows ?? [];
  const done = numberText(rows.filter((row) => !isMissing(row)).length);
  const missed = plan.documents.flatMap(({ listed }) => listed).filter(isMissed).length;
  const all = rows.length + missed;
  if (isNothingWritten(result)) return `${paint.strong(paint.warn("nothing to write"))}: ${leftText(plan, missed)}`;
  if (status === "proved" && all === 0)
    return `${paint.strong(paint.good("restored"))}: everything was written before; proved`;
  return verdictText(result, `${done} of ${numberText(all)}`, "nothing else changed", page);
}

/** `37 rows are left alone, 1 document is refused` */
function leftText({ documents }: RestoreResult["plan"], missed: number): string {
  const refused = documents.filter((document) => document.refused !== null).length;
  const are = (count: number) => (count === 1 ? "is" : "are");
  return countedTexts([
    [missed, "row", `${are(missed)} left alone`],
    [refused, "document", `${are(refused)} refused`],
  ]).join(", ");
}

function factsOf({ applied, counts, base_url }: RestoreResult): string {
  const isWhole = applied?.rows.every(({ outcome }) => outcome === "written") ?? false;
  const embedded = `${isWhole ? "" : "at most "}${countText(counts.characters, "character")} embedded`;
  const sent = `${countText(applied?.writes ?? 0, "write request")} to ${terminalText(base_url)}`;
  return counts.characters === 0 ? sent : `${sent}, ${embedded}`;
}

const nextSteps: Readonly<Record<RowOutcome, string>> = {
  written: "",
  there: "",
  "changed meanwhile": "look at it in the service, then plan again",
  failed: "run the command again; nothing is written twice",
  "still enabled": "run the command again; the service accepts no change of a chunk for 10 minutes after the last one",
};

function troubleOfRow({ outcome, reason, document_id: id, ...row }: AppliedRow): Trouble {
  return { id, row, reason: `${outcome}: ${reason ?? "no reason is known"}`, next: nextSteps[outcome] };
}

/**
 * Renders a row that the restore did not write. A row that needs a decision gets no next step, because one command below covers all
 * such rows.
 */
function troubleOfLoss(id: string, loss: ListedLoss): Trouble {
  return {
    id,
    row: loss,
    reason: `${loss.why}: ${loss.reason}`,
    next: loss.choice === null ? "put it back by hand" : "",
  };
}
