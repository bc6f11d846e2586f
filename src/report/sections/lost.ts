import { relative } from "node:path";
import { countText, dayText, lostText, numberText, replacedText } from "../../amounts.js";
import type { ComparedRuns } from "../../compare/compare-runs.js";
import type { ChangeCounts, ChunkChange, DocumentDiff, TextPart } from "../../compare/diff-result.js";
import { withRunDiff } from "../../compare/diff-runs.js";
import { checkFit } from "../../compare/load-document-rows.js";
import { needsDetails } from "../../compare/lost/decisions.js";
import { planCompared } from "../../compare/lost/plan-lost.js";
import { countPlan, type DocumentPlan, type ManualEdit } from "../../compare/lost/restore-plan.js";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { type Dump, historyOf } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { documentKey } from "../../rows/row.js";
import { foreign, foreignText, type Html, type HtmlValue, html, idText, stateText, timeText } from "../page/html.js";
import { type Answer, type Answered, sentences } from "../page/page.js";
import {
  column,
  commandBlock,
  documentName,
  renderFirst,
  renderFound,
  renderNotes,
  renderRest,
} from "../page/table.js";
import { commandOf, type NameFolder, runName } from "../report-path.js";
import { type ReportOptions, type Source, withoutTexts } from "../source.js";

/** Maximum lost rows to show as cards. */
const mostCards = 100;

/** The losses since an older run: the counts of `diff`, and the plan of `restore`. */
export type LostFacts = Awaited<ReturnType<typeof gatherLost>>;

/** A lost row, and whether a restore brings it back. */
export type LostCard = LostFacts["cards"][number];

/** The restore plan for a lost row. */
interface RowOutcome {
  /** Who made the edit, and when; null without evidence of a manual edit. */
  readonly edit: ManualEdit | null;
  /** The text in the plan; undefined without evidence of a manual edit. */
  readonly content?: string;
  /** A sentence on why the row is left alone; null if the restore writes it. */
  readonly reason: string | null;
}

export type LostOptions = Pick<ReportOptions, "database" | "content" | "memory" | "signal" | "progress" | "nameFolder">;

/**
 * Compares a run with an older one, and plans what `restore` would bring back. `options.database` belongs to the older run's job;
 * undefined: the database next to that run.
 */
export async function gatherLost(old: Dump, fresh: Dump, options: LostOptions) {
  const { memory, signal, progress, content, nameFolder } = options;
  const database = options.database ?? (await historyOf(old)) ?? null;
  const diffing = { memory, signal, progress, database, text: content ? ("lost" as const) : false };
  return withRunDiff(old.folder, fresh.folder, diffing, async (diff, changes, { connection, compared }) => {
    const manual = await changes.first("manual edits", mostCards);
    const lost = [...manual, ...(await changes.first("lost", mostCards - manual.length))];
    progress.step = "planning the restore";
    const { outcomeOf, warnings, ...restore } = await planRestore(connection, compared, signal);
    const all = [...new Set([...diff.warnings, ...warnings])];
    // You may pass the page on, and readers need not see the folders of this machine.
    const withoutPath = (text: string) =>
      database === null ? text : text.replaceAll(database, "the database of the job");
    const documents = new Map(diff.documents.map((document) => [documentKey(document), document]));
    return {
      old: old.manifest,
      /** The counts of the comparison. It also has the names of documents, which a report without content must not show. */
      diff,
      /** The first lost rows, manual edits first. */
      cards: lost.map((change) => ({
        ...outcomeOf(change),
        change,
        document: documents.get(documentKey(change)) ?? change,
      })),
      replaced: changes.replaced,
      restore,
      commands: commandsFor(old, fresh, nameFolder),
      /** Sentences on why the comparison may be incomplete; empty without content. `warning_count` counts them even then. */
      warnings: content ? all.map(withoutPath) : [],
      warning_count: all.length,
    };
  });
}

/**
 * Plans the restore like the command does, but reuses the comparison. `rows`: how many rows it restores; `more`: how many others may
 * be restorable with details from the service. `refused`: a sentence on why there is no plan.
 */
async function planRestore(connection: Connection, compared: ComparedRuns, signal: AbortSignal) {
  const [old, fresh] = compared.sources.map(({ run }) => run.dump);
  const refused = refusalOf("older", old) ?? refusalOf("newer", fresh);
  const refuse = (): RowOutcome => ({ edit: null, reason: refused });
  if (refused !== null) return { rows: 0, more: 0, refused, outcomeOf: refuse, warnings: [] };
  const wishes = { refusals: new Map(), decisions: undefined, addManualEdits: false, documents: [], signal };
  const { plan, warnings } = await planCompared(connection, compared, wishes);
  const outcomes = outcomesOf(plan.documents);
  const refusals = new Map(plan.documents.map((document) => [documentKey(document), document.refused]));
  const outcomeOf = (change: ChunkChange): RowOutcome =>
    outcomes.get(keyOf(change, change.old_segment_id, change.old_id)) ?? {
      edit: null,
      reason: refusals.get(documentKey(change)) ?? "There is no evidence that a person made or edited it.",
    };
  const more = plan.documents.flatMap(({ listed }) => listed).filter(({ reason }) => reason === needsDetails).length;
  return { rows: countPlan(plan).rows, more, refused, outcomeOf, warnings };
}

/** Why a run cannot be used for a restore; null if it can. */
function refusalOf(name: "older" | "newer", dump: Dump | undefined): string | null {
  try {
    if (dump) checkFit(dump);
    return null;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return `The ${name} run cannot be used for a restore: ${error.problems.map(({ message }) => message).join("; ")}.`;
  }
}

/** The outcomes of all rows in the plan, by `keyOf`. */
function outcomesOf(documents: readonly DocumentPlan[]): ReadonlyMap<string, RowOutcome> {
  const outcomes = new Map<string, RowOutcome>();
  for (const document of documents) {
    for (const { segment_id, id, reason, edit, content } of document.listed)
      outcomes.set(keyOf(document, segment_id, id), { reason, edit, content });
    for (const { chunk_id, edit, texts, disable, children } of document.restores) {
      const content = texts ? { content: texts.content } : {};
      if (texts || disable) outcomes.set(keyOf(document, null, chunk_id), { reason: null, edit, ...content });
      for (const { child_id, edit, content } of children)
        outcomes.set(keyOf(document, chunk_id, child_id), { reason: null, edit, content });
    }
  }
  return outcomes;
}

/** Identifies a row of the older run. */
function keyOf(document: object, segment_id: string | null, id: string | null): string {
  return JSON.stringify([documentKey(document), segment_id, id]);
}

/** The commands that show all losses, and that plan and apply a restore. */
function commandsFor(old: Dump, fresh: Dump, nameFolder: NameFolder | undefined) {
  const { older, newer, flags } = namesOf(old, fresh, nameFolder);
  return {
    diff: commandOf("diff", [older, newer, "--text", ...flags]),
    documents: commandOf("diff", [older, newer, "--only", "document", ...flags]),
    /** Plan and apply a restore to the current service; `against` plans it only from the runs. */
    restore: commandOf("restore", [older, ...flags]),
    apply: commandOf("restore", [older, "--apply", ...flags]),
    against: commandOf("restore", [older, "--against", newer, ...flags]),
  };
}

/** Names both runs for one command. `--out` applies to both, so runs from different output folders are named by their paths. */
function namesOf(old: Dump, fresh: Dump, nameFolder: NameFolder = (path) => path) {
  const [older, newer] = [old, fresh].map(({ folder, manifest }) => runName(folder, manifest, nameFolder));
  if (older && newer && older.flags.join() === newer.flags.join())
    return { older: older.word, newer: newer.word, flags: older.flags };
  const pathOf = ({ folder }: Dump) =>
    nameFolder(folder) === folder ? relative(".", folder) || "." : nameFolder(folder);
  return { older: pathOf(old), newer: pathOf(fresh), flags: [] };
}

const question = "What was lost by a re-index?";

/** Shows rows lost in a re-index since an older run: how to restore them, their texts, and the documents that changed. */
export function lostSection(facts: LostFacts, { content }: Pick<Source, "content">): Answered {
  const { diff, commands, old, restore, warnings, warning_count } = facts;
  const next = { text: "See what a restore brings back, without writing anything:", command: commands.restore };
  return {
    ...answerOf(facts),
    id: "lost",
    question,
    title: "Lost since the older run",
    needsAction: diff.lost > 0,
    next: restore.rows + restore.more > 0 ? next : undefined,
    body: [
      diff.lost > 0 && renderRestore(facts, content),
      html`<p>Compared with the run <code>${old.run_id}</code> of ${foreign(old.job)}, which ended ${timeText(Date.parse(old.finished_at))} UTC.</p>`,
      warning_count > 0 && renderNotes(warnings, warning_count, "warning"),
      diff.lost > 0 && renderCards(facts, content),
      renderDocuments(facts, content),
    ],
  };
}

/** The answer if no older run was compared. */
export function notCompared({ job }: Source): Answered {
  return {
    ...{ id: "lost", title: "Lost", question, tone: "quiet", short: "Not compared", body: null },
    lead: "No older run was compared with this one.",
    next: {
      text: "Compare with the complete run before this one, if there is one:",
      command: commandOf("report", [job.word, "--against", job.word, ...job.flags]),
    },
  };
}

function answerOf({ diff, old, replaced, restore, warning_count }: LostFacts): Answer {
  const { lost, manual_edits, counts } = diff;
  const { not_compared: unknown, removed: gone } = counts.documents;
  const limits = [
    unknown > 0 && `${countText(unknown, "document")} could not be compared: what was lost there is not known.`,
    gone > 0 && `${countText(gone, "document")} of the older run ${gone === 1 ? "is" : "are"} not in this one at all.`,
  ];
  const since = `Since the run of ${dayText(Date.parse(old.finished_at))}`;
  if (lost > 0) {
    const { rows, more } = restore;
    const back = rows > 0 && `One command brings ${numberText(rows)} back.`;
    const may = rows > 0 ? `${countText(more, "other")} may come back, too` : `${countText(more, "row")} may come back`;
    const others = more > 0 && `${may}: the service has details that the newer run lacks.`;
    const what = `${since}: ${lostText(lost, manual_edits)}. A row is a chunk or a child chunk.`;
    const lead = sentences(what, replacedText(replaced), back, others, ...limits);
    return { tone: manual_edits > 0 ? "bad" : "warn", short: `${numberText(lost)} lost`, lead };
  }
  const isCertain = unknown + gone + warning_count === 0;
  const what = counts.documents.reindexed === 0 ? "no document was re-indexed" : "no row was lost";
  const lead = sentences(`${since}, ${isCertain ? "" : "as far as the runs can be compared, "}${what}.`, ...limits);
  return isCertain ? { tone: "good", short: "Nothing", lead } : { tone: "warn", short: "Nothing known", lead };
}

/** Renders the commands that plan and apply the restore, or why there are none. */
function renderRestore({ restore, commands }: LostFacts, content: boolean): HtmlValue {
  const { rows, more } = restore;
  if (rows + more === 0) {
    const none =
      "No command brings them back: for none of these rows is it certain that a person made or edited it, and where it was.";
    const refused = content
      ? restore.refused
      : restore.refused && "No command brings them back; this report leaves out why.";
    return html`<p>${foreign(refused ?? none, 600)}</p>`;
  }
  const fewer =
    more > 0 &&
    ` It leaves out ${countText(more, "row")} that may come back, because the newer run has no details of their documents.`;
  return html`<p>This command reads the documents as they stand, shows what comes back, and writes nothing. It needs a key that may write, in the variable <code>KNOWLEDGE_RESTORE_KEY</code>:</p>
${commandBlock(commands.restore)}
<p>This command also brings it back, after it has shown the plan and asked:</p>
${commandBlock(commands.apply)}
<p>This command compares with the newer run instead, and needs neither a key nor the service.${fewer}</p>
${commandBlock(commands.against)}`;
}

/** Maximum bytes for all cards, to keep the page below 2 MB. */
const cardsBytes = 420_000;
/** The number of cards to leave unfolded. */
const openCards = 4;

function renderCards({ cards, diff, commands }: LostFacts, content: boolean): HtmlValue {
  const shown = renderFirst(cards, (card) => renderCard(card, content), cardsBytes);
  const [first, others] = [shown.slice(0, openCards), shown.slice(openCards)];
  return html`<h3>Lost rows</h3>
<p>Words <del class="bad">struck out</del> were lost, <ins class="good">underlined</ins> ones stand there now. Manual edits come first.</p>
<div class="cards">${first}</div>
${others.length > 0 && html`<details><summary>${countText(others.length, "more lost row")}</summary><div class="cards">${others}</div></details>`}
${renderRest(diff.lost - shown.length, commands.diff)}`;
}

/** Renders a lost row: its text, who edited it, and whether a restore brings it back. */
function renderCard({ change, document, edit, content: planned, reason }: LostCard, content: boolean): Html {
  const { level, old_position: position, old_id, manual_edit } = change;
  const row = content ? { ...document, id: old_id } : withoutTexts({ ...document, id: old_id });
  const place = `${level === "chunk" ? "chunk" : "child chunk"}${position === null ? "" : ` ${numberText(position)}`}`;
  const by = content && edit?.by && html` by ${idText(edit.by)}`;
  const at = edit?.at && html` on ${timeText(Date.parse(edit.at))} UTC`;
  const parts = wordsOf(change, planned);
  const words = [
    renderWords(parts.content),
    parts.answer.length > 0 && [html`<p>Answer:</p>\n`, renderWords(parts.answer)],
  ];
  return html`<article class="card">
<h4>${documentName(row, 120)}, ${place}</h4>
<p>${stateText(manual_edit === null ? "warn" : "bad", lossOf(change))} ${manual_edit === null ? "no evidence of a manual edit" : [manual_edit === "customized" ? "made or edited" : manual_edit, " by hand", by, at]} <small>${idText(row.id)}</small></p>
${content && words}<p>${reason === null ? "The commands above bring it back." : html`${manual_edit === null ? "Left alone" : "Needs your decision"}${content && html`: ${foreign(reason, 400)}`}`}</p>
</article>
`;
}

function lossOf({ kind, manual_edit }: LostCard["change"]): string {
  if (kind === "removed") return "gone";
  if (kind === "changed") return "replaced";
  return manual_edit === "disabled" ? "enabled again" : "keywords lost";
}

/** The old text compared with the new. If only keywords or the enabled state were lost, the text did not change. */
function wordsOf({ kind, text, old_beginning }: LostCard["change"], planned: string | undefined) {
  if (kind === "changed") return { content: groupWords(text?.content ?? []), answer: groupWords(text?.answer ?? []) };
  const whole = planned ?? old_beginning ?? "";
  const part = { kind: kind === "removed" ? "removed" : "same", text: whole, cut: 0 } as const;
  return { content: whole === "" ? [] : [part], answer: [] };
}

/** Two texts are shown one after the other if they share less than this part of the shorter text. */
const leastShared = 0.5;

/**
 * Compares two texts so that the result is readable: word by word if they are similar, otherwise the whole old text and then the
 * whole new one, because common words would mix unrelated sentences.
 */
export function groupWords(parts: readonly TextPart[]): readonly TextPart[] {
  const letters = (kind: TextPart["kind"]) =>
    parts
      .filter((part) => part.kind === kind)
      .reduce((sum, { text, cut }) => sum + cut + text.replace(/[^\p{L}\p{N}]/gu, "").length, 0);
  const shared = letters("same");
  if (shared >= leastShared * (shared + Math.min(letters("removed"), letters("added")))) return parts;
  return (["removed", "added"] as const).map((kind) => {
    const own = parts.filter((part) => part.kind === "same" || part.kind === kind);
    return { kind, text: own.map(({ text }) => text).join(""), cut: own.reduce((sum, { cut }) => sum + cut, 0) };
  });
}

/** Renders a comparison: lost words struck out, new words marked, common words plain. Empty without text. */
function renderWords(parts: readonly TextPart[]): HtmlValue {
  return parts.length > 0 && html`<div class="words" dir="auto">${parts.map(renderPart)}</div>\n`;
}

function renderPart({ kind, text, cut }: TextPart): Html {
  const shown = foreignText(text, 2000);
  const left = cut > 0 && html` <span class="left-out" dir="ltr">(${numberText(cut)} characters left out)</span> `;
  if (kind === "removed") return html`<del class="bad">${spoken("lost:")}${shown}</del>${left}`;
  if (kind === "added") return html`<ins class="good">${spoken("now:")}${shown}</ins>${left}`;
  return html`${shown}${left}`;
}

/** A word for screen readers only. Its explicit direction keeps it from changing the direction of the text. */
function spoken(word: string): Html {
  return html`<span class="hidden" dir="ltr">${word} </span>`;
}

/** Maximum documents in the table, those with the most lost rows first. */
const mostDocuments = 300;

function renderDocuments({ diff, commands }: LostFacts, content: boolean): HtmlValue {
  const changed = diff.documents
    .filter(({ state, reindexed }) => state !== "same" || reindexed)
    .sort(
      (one, other) =>
        countOf(other, "manual_edits") - countOf(one, "manual_edits") ||
        countOf(other, "lost") - countOf(one, "lost") ||
        countOf(other, "removed", "changed", "added") - countOf(one, "removed", "changed", "added") ||
        (documentKey(one) < documentKey(other) ? -1 : 1),
    );
  const rows = changed.slice(0, mostDocuments).map((document) => {
    const counts = Object.fromEntries(counted.map((name) => [name, countOf(document, name)]));
    const state = document.reindexed ? "re-indexed" : stateWords[document.state];
    return { ...(content ? document : withoutTexts(document)), ...counts, state };
  });
  return renderFound({
    caption: "Documents that changed since the older run, with chunks and child chunks",
    columns: [
      column.document,
      column.state("State", "state", { "re-indexed": "warn", changed: "quiet", new: "quiet" }),
      ...column.numbers({ Lost: "lost", "Manual edits": "manual_edits" }),
      ...column.numbers({ Removed: "removed", Changed: "changed", Added: "added" }),
    ],
    rows,
    total: changed.length,
    query: commands.documents,
  });
}

function countOf({ chunks, child_chunks: children }: DocumentDiff, ...names: readonly (keyof ChangeCounts)[]): number {
  return names.reduce((sum, name) => sum + chunks[name] + children[name], 0);
}

const counted = ["lost", "manual_edits", "removed", "changed", "added"] as const;
const stateWords = {
  same: "the same",
  different: "changed",
  removed: "not in the newer run",
  added: "new",
  not_compared: "not compared",
} as const;
