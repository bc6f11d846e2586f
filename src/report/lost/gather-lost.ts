import { relative } from "node:path";
import type { ChangeCounts, ChunkChange, DocumentDiff, RunDiff } from "../../compare/diff-result.js";
import { withRunDiff } from "../../compare/diff-runs.js";
import { readRun } from "../../compare/run-diff.js";
import type { Dump } from "../../dump/open-dump.js";
import type { ReadProgress } from "../../read-progress.js";
import { documentKey } from "../../rows/row.js";
import {
  type Cut,
  type DocumentChange,
  type LostCard,
  type LostFacts,
  mostCards,
  mostRows,
  type RestoreFacts,
  type WordPart,
} from "../lost-facts.js";
import type { NamedDocument } from "../named-document.js";
import { commandOf, type NameFolder, runName } from "../report-path.js";
import { type PlanContext, type PlannedRestore, planRestore, type RowOutcome } from "./plan-restore.js";
import { type LostRow, lostRowFrom, type OldRow, readLostRows, rowKey } from "./read-lost-rows.js";

export interface LostContext extends PlanContext {
  /** Updated while the work goes on. */
  readonly progress: ReadProgress;
  /** Names folders in commands; undefined: by their paths. */
  readonly nameFolder?: NameFolder | undefined;
}

/**
 * Compares the run folder `older` with `newer`, and plans what `restore` would restore. The texts of one document at a time
 * are in the memory of Node. UsageError when a path is no run folder, StopError when a file is not as its run wrote it or a run has no
 * file to compare.
 */
export async function gatherLost(older: string, newer: string, context: LostContext): Promise<LostFacts> {
  const { content, progress } = context;
  const [run, { dump: fresh }] = [await readRun(older), await readRun(newer)];
  const old = run.dump;
  const { diff, manual, others } = await compare(old, fresh, context);
  progress.step = "planning the restore";
  const planned = await planRestore(old, fresh, [...manual, ...others], context);
  const rows = [...manual, ...planned.enabled, ...others].slice(0, mostCards);
  progress.step = "reading what was lost";
  const olds = await readLostRows(run, rows, context);
  const commands = commandsFor(old, fresh, context.nameFolder);
  const names = new Map(diff.documents.map((document) => [documentKey(document), document]));
  const cards = rows.map((row) => {
    const known = { row, document: names.get(documentKey(row)), old: olds.get(rowKey(row)) };
    return cardFrom({ ...known, outcome: planned.outcomeOf(row) }, commands, content);
  });
  const counts = lostCounts(diff, planned);
  const { job, run_id, finished_at } = old.manifest;
  const warnings = [...new Set([...diff.warnings, ...planned.warnings])];
  return {
    old: { job, run_id, finished_at: Date.parse(finished_at) },
    reindexed: diff.counts.documents.reindexed,
    not_compared: diff.documents.filter(({ state }) => state === "not_compared").length,
    gone: diff.documents.filter(({ state }) => state === "removed").length,
    ...counts,
    documents: changedDocuments(diff.documents, { enabled: planned.enabledCounts, content, query: commands.documents }),
    cards,
    left_out: Math.max(0, counts.lost - cards.length),
    query: commands.diff,
    restore: restoreFacts(planned, counts.lost, commands),
    warnings: content ? warnings : [],
    warning_count: warnings.length,
  };
}

/** The comparison, and the first lost rows of both sorts. */
async function compare(old: Dump, fresh: Dump, { content, memory, signal, progress }: LostContext) {
  const options = { memory, signal, progress, text: content ? ("lost" as const) : false };
  return withRunDiff(old.folder, fresh.folder, options, async (diff, changes) => {
    const rowsOf = (found: readonly ChunkChange[]): readonly LostRow[] => found.map(lostRowFrom);
    const manual = rowsOf(await changes.first("lost by hand", mostCards));
    return { diff, manual, others: rowsOf(await changes.first("lost", mostCards - manual.length)) };
  });
}

/** A chunk that is enabled again is no difference of texts: the diff does not count it among the lost rows. */
function lostCounts({ counts }: RunDiff, { enabledCounts }: PlannedRestore) {
  const { chunks, child_chunks } = counts;
  const enabled = [...enabledCounts.values()].reduce((sum, each) => sum + each, 0);
  return {
    lost: chunks.lost + child_chunks.lost + enabled,
    lost_by_hand: chunks.lost_by_hand + child_chunks.lost_by_hand + enabled,
  };
}

function restoreFacts({ rows, refused }: PlannedRestore, lost: number, { restore, apply }: LostCommands): RestoreFacts {
  if (rows > 0) return { command: restore, apply, rows, reason: null };
  const none = lost === 0 ? "Nothing was lost." : "No lost row has evidence that a person made it.";
  return { command: null, apply: null, rows: 0, reason: refused ?? none };
}

/** All that is known of a lost row. */
interface KnownRow {
  readonly row: LostRow;
  /** Its document, with the names; undefined where neither run has it. */
  readonly document: NamedDocument | undefined;
  /** Undefined where the older run has no such row. */
  readonly old: OldRow | undefined;
  readonly outcome: RowOutcome;
}

/** The card of a lost row; without `content`, there is no word of its texts on it. */
function cardFrom({ row, document, old, outcome }: KnownRow, commands: LostCommands, content: boolean): LostCard {
  const { dataset_id, document_id, level, loss, id, position, edit } = row;
  const { dataset_name = null, document_name = null } = (content ? document : undefined) ?? {};
  const words = content ? wordsOf(row, old) : { content: [], answer: [] };
  return {
    ...{ dataset_id, document_id, dataset_name, document_name },
    ...{ level, loss, id, position, edit, ...words },
    ...(level === "chunk" && edit === "customized" ? unknown : editorOf(edit, old)),
    ...(content ? {} : { by: null }), // a service may send any text for an account
    ...evidenceFor(row, outcome, commands),
  };
}

/** Somebody worked on a child chunk: who and when is known of that alone. */
const unknown = { by: null, at: null };

function editorOf(edit: LostRow["edit"], old: OldRow | undefined): Pick<LostCard, "by" | "at"> {
  return edit === null || !old ? unknown : old.editors[edit];
}

/** Texts that the older run alone has are read from their beginnings, and cut already; a chunk that is enabled again still says its own. */
function wordsOf({ loss, text }: LostRow, old: OldRow | undefined): Pick<LostCard, "content" | "answer"> {
  if (loss === "removed" && old) return { content: old.content, answer: old.answer };
  if (loss === "enabled" && old) return { content: unchanged(old.content), answer: unchanged(old.answer) };
  const [content, answer] = [groupWords(text?.content ?? []), groupWords(text?.answer ?? [])];
  return { content: cutWords(content, mostContent), answer: cutWords(answer, mostAnswer) };
}

const unchanged = (parts: readonly WordPart[]) => parts.map((part) => ({ ...part, kind: "same" }) as const);

function evidenceFor(
  { document_id, id }: LostRow,
  { isWritten, reason, canBeChosen }: RowOutcome,
  { restoreDocument, restoreChosen }: LostCommands,
): Pick<LostCard, "command" | "has_evidence" | "reason"> {
  if (isWritten) return { command: restoreDocument(document_id), has_evidence: true, reason: null };
  return { command: canBeChosen ? restoreChosen(document_id, id) : null, has_evidence: false, reason };
}

/** The documents that changed, those with the most lost rows first. `enabled`: lost rows that a diff does not count, by `documentKey`. */
function changedDocuments(
  documents: readonly DocumentDiff[],
  { enabled, content, query }: { enabled: ReadonlyMap<string, number>; content: boolean; query: string },
): Cut<DocumentChange> {
  const changed = documents
    .map((document) => documentChange(document, enabled.get(documentKey(document)) ?? 0, content))
    .filter(({ state, reindexed }) => state !== "same" || reindexed);
  return { rows: changed.toSorted(mostLostFirst).slice(0, mostRows), total: changed.length, query };
}

function documentChange(document: DocumentDiff, enabled: number, content: boolean): DocumentChange {
  const { dataset_id, document_id, state, reindexed, chunks, child_chunks } = document;
  const { dataset_name, document_name } = content ? document : { dataset_name: null, document_name: null };
  const count = (name: keyof ChangeCounts) => chunks[name] + child_chunks[name];
  return {
    ...{ dataset_id, document_id, dataset_name, document_name },
    ...{ state, reindexed, added: count("added"), removed: count("removed") },
    ...{ changed: count("changed"), moved: count("moved") },
    ...{ lost: count("lost") + enabled, lost_by_hand: count("lost_by_hand") + enabled },
  };
}

function mostLostFirst(one: DocumentChange, other: DocumentChange): number {
  const changes = ({ added, removed, changed, moved }: DocumentChange) => added + removed + changed + moved;
  return (
    other.lost_by_hand - one.lost_by_hand ||
    other.lost - one.lost ||
    changes(other) - changes(one) ||
    (documentKey(one) < documentKey(other) ? -1 : 1)
  );
}

/** The commands that show the rest of what is lost, and that plan a restore against the newer run. */
interface LostCommands {
  readonly diff: string;
  readonly documents: string;
  readonly restore: string;
  /** Writes it: against the service as it stands, not against a run. */
  readonly apply: string;
  /** Plans the restore of one document; of the whole run where the id of the document is none that a command takes. */
  readonly restoreDocument: (document_id: string) => string;
  /** The same with a row that the owner chooses; null where one of the ids is none that a command takes. */
  readonly restoreChosen: (document_id: string, id: string) => string | null;
}

/** The commands for two runs. */
function commandsFor(old: Dump, fresh: Dump, nameFolder?: NameFolder): LostCommands {
  const { older, newer, flags } = namesOf(old, fresh, nameFolder);
  const restore = (more: readonly string[]) => commandOf("restore", [older, "--against", newer, ...more, ...flags]);
  return {
    diff: commandOf("diff", [older, newer, "--text", ...flags]),
    documents: commandOf("diff", [older, newer, "--only", "document", ...flags]),
    restore: restore([]),
    apply: commandOf("restore", [older, "--apply", ...flags]),
    restoreDocument: (document) => restore(isTaken(document) ? ["--document", document] : []),
    restoreChosen: (document, id) =>
      isTaken(document) && isTaken(id) ? restore(["--document", document, "--chunk", id]) : null,
  };
}

/** `--out` holds for both runs: where they lie in different folders, both are named by their paths. */
function namesOf(old: Dump, fresh: Dump, nameFolder: NameFolder = (path) => path) {
  const nameOf = ({ folder, manifest }: Dump) => runName(folder, manifest, nameFolder);
  const [older, newer] = [nameOf(old), nameOf(fresh)];
  if (older.flags.join() === newer.flags.join()) return { older: older.word, newer: newer.word, flags: older.flags };
  const [olderPath, newerPath] = [old, fresh].map(({ folder }) => {
    const name = nameFolder(folder);
    return name === folder ? relative(".", folder) || "." : name;
  });
  return { older: olderPath ?? old.folder, newer: newerPath ?? fresh.folder, flags: [] };
}

/** Whether the command line takes an id: a UUID in lower case. */
function isTaken(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

/** Two texts that have less than this share of the letters of the shorter one in common are shown one after the other. */
const leastShared = 0.5;

/**
 * The parts of two texts as a person can read them: word by word where they are alike, else the whole old text and then the whole new
 * one. Words that happen to stand in both would mix two sentences otherwise.
 */
export function groupWords(parts: readonly WordPart[]): readonly WordPart[] {
  const [shared, removed, added] = (["same", "removed", "added"] as const).map((kind) => lettersOf(parts, kind));
  if (!shared || shared >= leastShared * (shared + Math.min(removed ?? 0, added ?? 0))) return parts;
  return (["removed", "added"] as const).map((kind) => {
    const own = parts.filter((part) => part.kind === "same" || part.kind === kind);
    return { kind, text: own.map(({ text }) => text).join(""), cut: own.reduce((sum, { cut }) => sum + cut, 0) };
  });
}

/** Letters and digits of the parts of a kind, those that are cut out included. */
function lettersOf(parts: readonly WordPart[], kind: WordPart["kind"]): number {
  const own = parts.filter((part) => part.kind === kind);
  return own.reduce((sum, { text, cut }) => sum + cut + text.replace(/[^\p{L}\p{N}]/gu, "").length, 0);
}

/** Characters of an edited content and of an edited answer that a card shows. */
const mostContent = 4_000;
const mostAnswer = 2_000;

/** The first parts, up to so many characters in all; the last part says how many more there are. */
export function cutWords(parts: readonly WordPart[], most: number): readonly WordPart[] {
  let left = most;
  const end = parts.findIndex(({ text }) => {
    left -= text.length;
    return left < 0;
  });
  const last = parts[end];
  if (!last) return parts;
  const text = beginningOf(last.text, last.text.length + left);
  const rest = parts.slice(end + 1).reduce((sum, part) => sum + part.text.length + part.cut, 0);
  return [
    ...parts.slice(0, end),
    { ...last, text: `${text}…`, cut: last.cut + last.text.length - text.length },
    ...(rest > 0 ? [{ kind: "same", text: "…", cut: rest } as const] : []),
  ];
}

/** The beginning of a text, with no half character at its end. */
function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}
