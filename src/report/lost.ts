import { relative } from "node:path";
import type { ComparedRuns } from "../compare/compare-runs.js";
import type { ChunkChange } from "../compare/diff-result.js";
import { withRunDiff } from "../compare/diff-runs.js";
import { checkFit } from "../compare/history.js";
import { planCompared } from "../compare/lost/plan-lost.js";
import { countPlan, type DocumentPlan, type ManualEdit } from "../compare/lost/restore-plan.js";
import type { Connection } from "../duckdb/open-duckdb.js";
import { type Dump, databaseOf } from "../dump/open-dump.js";
import { UsageError } from "../errors.js";
import { documentKey } from "../rows/row.js";
import type { ReportOptions } from "./report-options.js";
import { commandOf, type NameFolder, runName } from "./report-path.js";

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
  const database = options.database ?? (await databaseOf(old)) ?? null;
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
      /** The names of its documents are texts, which a report without content must not show. */
      diff,
      /** The first lost rows, manual edits first. */
      cards: lost.map((change) => ({
        ...outcomeOf(change),
        change,
        document: documents.get(documentKey(change)) ?? change,
      })),
      restore,
      commands: commandsFor(old, fresh, nameFolder),
      /** Sentences on why the comparison may be incomplete; empty without content. `warning_count` counts them even then. */
      warnings: content ? all.map(withoutPath) : [],
      warning_count: all.length,
    };
  });
}

/** Plans the restore like the command does, but reuses the comparison. `refused`: a sentence on why there is none. */
async function planRestore(connection: Connection, compared: ComparedRuns, signal: AbortSignal) {
  const [old, fresh] = compared.sources.map(({ run }) => run.dump);
  const refused = refusalOf("older", old) ?? refusalOf("newer", fresh);
  const refuse = (): RowOutcome => ({ edit: null, reason: refused });
  if (refused !== null) return { rows: 0, refused, outcomeOf: refuse, warnings: [] };
  const wishes = { refusals: new Map(), decisions: undefined, addManualEdits: false, documents: [], signal };
  const { plan, warnings } = await planCompared(connection, compared, wishes);
  const outcomes = outcomesOf(plan.documents);
  const refusals = new Map(plan.documents.map((document) => [documentKey(document), document.refused]));
  const outcomeOf = (change: ChunkChange): RowOutcome =>
    outcomes.get(keyOf(change, change.old_segment_id, change.old_id)) ?? {
      edit: null,
      reason: refusals.get(documentKey(change)) ?? "No fact says that a person made or edited it.",
    };
  return { rows: countPlan(plan).rows, refused, outcomeOf, warnings };
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
    restore: commandOf("restore", [older, "--against", newer, ...flags]),
    /** Compares with the current service, not with a run. */
    apply: commandOf("restore", [older, "--apply", ...flags]),
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
