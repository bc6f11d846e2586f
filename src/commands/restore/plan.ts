import { countText, lostText, numberText } from "../../amounts.js";
import { commandsBelow, type Entry, faint, firstOf, type Paragraphs, type Part, titled } from "../../cli/outline.js";
import { terminalText } from "../../cli/text.js";
import {
  type ChildRestore,
  type ChunkRestore,
  type ChunkTexts,
  type DocumentPlan,
  type Evidence,
  isMissed,
  type ListedLoss,
  type ManualEdit,
  type RestorePlan,
  type WhyListed,
} from "../../compare/lost/restore-plan.js";
import { diffText } from "../../compare/read-changes.js";
import { type Applied, isMissing, type RestoreResult, type RowOutcome } from "../../restore/lost/restore-options.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { nameAndId } from "../../words.js";
import { sidesOf } from "../diff/table.js";
import {
  applyCommand,
  mustKnow,
  placeOf,
  placesOf,
  refusalsIn,
  troublesIn,
  unapplied,
  verdictOf,
} from "./result-parts.js";

/** Maximum documents, rows to write of each, and other rows of each to show. */
const most = { documents: 100, written: 50, others: 10 };

/** The plan of a restore, for people. Without an invocation, it shows no commands, because a question follows. */
export function planOutline(result: RestoreResult, invocation?: Invocation): Paragraphs {
  const { run, base_url, against, plan, counts } = result;
  const target = against === null ? `the current documents at ${terminalText(base_url)}` : terminalText(against, 400);
  const head = `Run ${run.run_id} of job ${run.job}, compared with ${target}.`;
  if (result.status === "nothing to restore")
    return [[head], [{ head: "nothing to restore", paint: "good", text: nothingText(result) }]];
  const shown = plan.documents.filter(({ refused, losses, restores, listed }) => {
    return refused !== null || losses.length + restores.length + listed.length > 0;
  });
  const isTexts = shown.some(({ restores, listed }) => restores.length + listed.length > 0);
  return [
    [head, `${lostText(result.lost, result.manual_edits)}.`, faint(isTexts && "- text now · + text after the restore")],
    ...firstOf(shown, most.documents, documentEntry, "more document").map((part) => [part]),
    totals(result),
    [(counts.rows > 0 || (invocation === undefined && isTexts)) && warnings],
    ...(invocation === undefined ? [] : nextSteps(result, invocation)),
  ];
}

function nothingText({ plan, lost }: RestoreResult): string {
  const present = plan.documents.reduce((sum, document) => sum + document.present, 0);
  const are = lost === 1 ? "is" : "are";
  const gone = lost > 0 ? `; ${countText(lost, "other row")} ${are} gone, without evidence of a manual edit` : "";
  const none = "there is no evidence that a person made or edited anything in this run";
  return `${present === 0 ? none : `all ${countText(present, "manual edit")} are there`}${gone}`;
}

function totals({ plan: { documents }, counts }: RestoreResult): readonly Part[] {
  const listed = documents.flatMap((document) => document.listed);
  const count = (why: WhyListed) => listed.filter((loss) => loss.why === why).length;
  const open = count("needs your decision");
  const { rows, writes, characters } = counts;
  const written = countedTexts([
    [counts.chunks_updated, "chunk", "edited"],
    [counts.chunks_added, "chunk", "added"],
    [counts.chunks_disabled, "chunk", "disabled"],
    [counts.children_replaced, "child chunk", "replaced"],
    [counts.children_added, "child chunk", "added"],
  ]);
  return [
    { head: "plan", text: `${countText(rows, "row")} to write${rows > 0 ? `: ${written.join(", ")}` : ""}` },
    rows > 0 && `${countText(writes, "write request")} at the least, ${countText(characters, "character")} to embed`,
    ...countedTexts([
      [open, "row", open === 1 ? "needs your decision" : "need your decision"],
      [count("found inside"), "row", "found inside a current chunk"],
      [count("cannot be restored"), "row", "cannot be restored"],
      [count("left out"), "row", "left out, as you decided"],
      [documents.filter(({ refused }) => refused !== null).length, "document", "refused"],
    ]),
  ];
}

/** `3 chunks edited`: a text for each count above 0. */
function countedTexts(all: readonly (readonly [count: number, noun: string, words: string])[]): readonly string[] {
  return all.filter(([count]) => count > 0).map(([count, noun, words]) => `${countText(count, noun)} ${words}`);
}

/** The advice at the end of a plan, and of the result of a restore. */
const keepText = "The next re-index loses all of it again. To keep a text for good, put it into the source document.";

const warnings = mustKnow(
  "Not restored: ids, positions of added chunks (they come last), hit counts, times, authors, and keywords that were emptied.",
  "kbdump reads each chunk again right before it writes it, but the API has no conditional writes: an edit in that moment is overwritten. Choose a quiet time.",
  keepText,
);

function nextSteps({ counts, plan, plan_file }: RestoreResult, invocation: Invocation): Paragraphs {
  const write = counts.rows > 0 && commandsBelow("Write it:", applyCommand(invocation));
  if (plan_file === null) return [[write], decide(plan, invocation)];
  const title = `The plan is in ${terminalText(plan_file, 400)}: say yes or no there, then write it:`;
  return [[write], [commandsBelow(title, applyCommand(undecided(invocation), "--plan", plan_file))]];
}

/** A document's rows to write, rows left alone and why, and losses that no request can restore. */
function documentEntry(document: DocumentPlan): Entry {
  const { document_name, document_id, refused, restores, listed, losses, present, lost, manual_edits } = document;
  const listedAs = (title: string, ...whys: readonly WhyListed[]) => {
    const losses = listed.filter(({ why }) => whys.includes(why));
    return titled(title, firstOf(losses, most.others, lossEntry));
  };
  const goneText = (loss: (typeof losses)[number]) =>
    `${loss.part} of ${placeOf(loss)}: ${terminalText(loss.reason, 300)}`;
  const unproved = `also lost: ${countText(lost - manual_edits, "row")} without evidence of a manual edit`;
  return {
    text: nameAndId(document_name, terminalText(document_id, 80)),
    paint: "strong",
    below: [
      refused !== null && { text: `refused: ${terminalText(refused, 400)}`, paint: "bad" },
      titled("To write:", firstOf(restores, most.written, chunkEntry)),
      listedAs("Needs your decision:", "needs your decision"),
      listedAs("Found inside a current chunk, so left alone:", "found inside"),
      listedAs("Left alone:", "cannot be restored", "left out"),
      titled("Cannot be brought back:", firstOf(losses, most.others, goneText)),
      faint(lost > manual_edits && unproved),
      faint(present > 0 && `still there: ${countText(present, "manual edit")}`),
    ],
  };
}

function chunkEntry({ position, chunk_id, edit, evidence, target, texts, disable, children }: ChunkRestore): Entry {
  const verb = texts === null ? (disable ? "disable" : "child chunks of") : target === null ? "add" : "edit";
  return {
    text: `${verb} ${placeOf({ level: "chunk", position, id: chunk_id })}`,
    paint: verb === "add" ? "good" : "strong",
    below: [
      ...[
        editText(edit),
        evidenceText(evidence, texts === null ? "disabled" : edit?.kind),
        target !== null && `its id is now ${terminalText(target.id, 80)}`,
        verb === "add" && "it comes back at the end of the document",
        verb === "disable" && terminalText(target?.content ?? "", 80),
        target?.status === "error" && "the chunk there is in error, and is repaired",
        texts !== null && disable && "it is disabled afterwards",
      ].map(faint),
      ...(texts === null ? [] : textParts(target, texts)),
      ...children.map(childEntry),
    ],
  };
}

function childEntry({ child_id: id, position, edit, evidence, content, twin }: ChildRestore): Entry {
  const place = placeOf({ level: "child_chunk", position, id });
  const end = twin === null && "it comes back at the end of its chunk";
  return {
    text: `${twin === null ? "add" : "replace"} ${place}`,
    paint: twin === null ? "good" : undefined,
    below: [...[editText(edit), evidenceText(evidence, edit.kind), end].map(faint), ...textParts(twin, { content })],
  };
}

function lossEntry(loss: ListedLoss): Entry {
  const { edit, reason, choice, now, now_answer, content, answer } = loss;
  const current = now === null ? null : { content: now, answer: now_answer };
  const known = choice === "replace" ? "it can replace the text there" : "it can be added at the end";
  return {
    text: placeOf(loss),
    paint: "warn",
    below: [
      ...[editText(edit), terminalText(reason, 400), choice === null ? "kbdump cannot restore it" : known].map(faint),
      ...textParts(current, { content, answer }),
    ],
  };
}

/** Maximum characters of a text to show. */
const longest = 160;

/** The current text after a `-` and the new text after a `+`, from shortly before the first difference; and the keywords. */
function textParts(now: Partial<ChunkTexts> | null, next: Partial<ChunkTexts>): readonly Part[] {
  const sides = (["content", "answer"] as const).flatMap((name) => {
    const texts = { removed: now?.[name] ?? null, added: next[name] ?? null };
    const shown = (["removed", "added"] as const).filter((side) => texts[side] !== null);
    const parts = diffText(texts.removed, texts.added) ?? [];
    return parts.length > 0 ? sidesOf(name, parts, shown, longest) : [];
  });
  const [old, fresh] = [now, next].map((texts) => terminalText((texts?.keywords ?? []).join(", "), 300));
  return [...sides, old !== fresh && `keywords: ${old || "none"} → ${fresh || "none"}`];
}

/** `edited by 5f2c… on 2026-11-18 14:02 UTC` */
function editText(edit: ManualEdit | null): string {
  if (edit === null) return "";
  const by = edit.by === null ? "" : ` by ${terminalText(edit.by, 80)}`;
  const at = edit.at === null ? "" : ` on ${edit.at.slice(0, 16).replace("T", " ")} UTC`;
  return `${edit.kind === "customized" ? "made or edited by hand" : edit.kind}${by}${at}`;
}

const historyWords: Readonly<Record<ManualEdit["kind"], string>> = {
  edited: "has the text before the edit",
  added: "shows when it was added",
  disabled: "shows it enabled",
  customized: "has the text before the edit",
};

/** Names the evidence for a manual edit, except evidence that the row already shows: the person, and the type of a child chunk. */
function evidenceText(evidence: readonly Evidence[], kind: ManualEdit["kind"] = "edited"): string {
  const texts: Readonly<Partial<Record<Evidence, string>>> = {
    created_at: "created after the indexing",
    history: `the history of the job ${historyWords[kind]}`,
    neighbours: "the other text is between the same two chunks, and file and settings are the same",
    chosen: "you decided so",
  };
  return evidence.flatMap((each) => texts[each] ?? []).join("; ");
}

/** Whether a row needs a decision and can be restored. */
export function needsDecision({ why, choice }: ListedLoss): boolean {
  return choice !== null && why === "needs your decision";
}

/** The commands for rows that need a decision; empty if there are none. */
function decide({ documents }: RestorePlan, invocation: Invocation): readonly Part[] {
  const open = documents.flatMap(({ listed }) => listed.filter(needsDecision)).length;
  if (open === 0) return [];
  const command = (...flags: readonly string[]) => commandText(unapplied(undecided(invocation)), flags);
  const title = `Decide on ${countText(open, "row")}: write the plan as a list, say yes or no there, and pass it with --plan:`;
  return [
    commandsBelow(title, command("--plan-out", "plan.yaml")),
    commandsBelow("or add them all at the end of their documents:", command("--manual-edits")),
  ];
}

/** The command without the flags that decide on such rows: `--manual-edits` and `--plan`. */
function undecided(invocation: Invocation): Invocation {
  return withoutOption(withoutSwitches(invocation, ["manual-edits"]), "plan");
}

/** The result of a restore, for people: the verdict, every missing row and why, the findings of the proof, and the paths. */
export function restoredOutline(result: RestoreResult, invocation: Invocation): Paragraphs {
  const { status, applied, plan, differences, undo, journal } = result;
  if (applied === null || status === "planned" || status === "nothing to restore")
    return planOutline(result, invocation);
  const { documents } = plan;
  const refused = refusalsIn(documents, "refused: ");
  const failed = applied.rows.filter(isMissing).map((row) => {
    const reason = `${row.outcome}: ${row.reason ?? "no reason is known"}`;
    return { ...row, reason, next: remedies[row.outcome] };
  });
  const listed = documents.flatMap(({ document_id, listed }) => listed.map((row) => ({ ...row, document_id })));
  const left = listed.filter(isMissed).map((row) => {
    const next = row.choice === null ? "put it back by hand" : undefined; // one command below covers all others
    return { ...row, reason: `${row.why}: ${row.reason}`, next };
  });
  const names = new Map(documents.map(({ document_id, document_name }) => [document_id, document_name]));
  const others = listed.length - left.length;
  const without = `${countText(others, "other row")} left alone, found inside a chunk or as you decided: --json lists all`;
  const isRefused = refused.length + failed.length > 0;
  return [
    isWritten(applied) ? writtenParts(result, applied, left.length) : [nothingWritten(refused.length, left.length)],
    [troublesIn("Not restored:", [...refused, ...failed, ...left], names, { documents: 100, rows: 10 })],
    [troublesIn("Found by the proof:", differences ?? [], names, { documents: 100, rows: 100 })],
    [isRefused && commandsBelow("Once the cause is gone:", applyCommand(invocation))],
    decide(plan, invocation),
    [others > 0 && without],
    placesOf(undo, "the undo: the documents before the first write", journal),
    [isWritten(applied) && keepText],
  ];
}

function isWritten({ rows, writes }: Applied): boolean {
  return rows.length > 0 || writes > 0;
}

/** The verdict and the cost. `missed`: how many rows were not even tried. */
function writtenParts(result: RestoreResult, applied: Applied, missed: number): readonly Part[] {
  const done = applied.rows.filter((row) => !isMissing(row)).length;
  const all = applied.rows.length + missed;
  const isBefore = result.status === "proved" && all === 0;
  const count = isBefore ? "everything was written before" : `${numberText(done)} of ${numberText(all)}`;
  return [verdictOf(result, count, "nothing else changed"), faint(costText(result, applied))];
}

/** `nothing to write: 37 rows are left alone, 1 document is refused` */
function nothingWritten(refused: number, missed: number): Entry {
  const are = (count: number) => (count === 1 ? "is" : "are");
  const texts = countedTexts([
    [missed, "row", `${are(missed)} left alone`],
    [refused, "document", `${are(refused)} refused`],
  ]);
  return { head: "nothing to write", paint: "warn", text: texts.join(", ") };
}

function costText({ counts, base_url }: RestoreResult, { rows, writes }: Applied): string {
  const isWhole = rows.every(({ outcome }) => outcome === "written");
  const embedded = `${isWhole ? "" : "at most "}${countText(counts.characters, "character")} embedded`;
  const sent = `${countText(writes, "write request")} to ${terminalText(base_url)}`;
  return counts.characters === 0 ? sent : `${sent}, ${embedded}`;
}

const remedies: Readonly<Partial<Record<RowOutcome, string>>> = {
  "changed meanwhile": "look at it in the service, then plan again",
  failed: "run the command again; nothing is written twice",
  "still enabled": "run the command again; the service accepts no change of a chunk for 10 minutes after the last one",
};
