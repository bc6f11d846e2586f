import { groupRows } from "../../compare/document-rows.js";
import { checkFit, findEditedDocuments } from "../../compare/lost/evidence.js";
import { planEach } from "../../compare/lost/plan-lost.js";
import { countPlan, type DocumentPlan } from "../../compare/lost/restore-plan.js";
import type { Dump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { documentKey } from "../../rows/row.js";
import { mostCards } from "../lost-facts.js";
import { type LostRow, rowKey } from "./read-lost-rows.js";

export interface PlanContext {
  /** The database of the older run's job, with its history; undefined where there is none. */
  readonly database: string | undefined;
  /** Whether reasons may quote texts of the service. */
  readonly content: boolean;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
  readonly signal: AbortSignal;
}

/** All that `restore` against the newer run would come to. */
export interface PlannedRestore {
  /** Rows that it would write. */
  readonly rows: number;
  /** Why it is refused as a whole, as a sentence; null if it is not. */
  readonly refused: string | null;
  /** The first chunks that a person had disabled and that are enabled again, in the order of the older run. */
  readonly enabled: readonly LostRow[];
  /** How many of these each document has, by `documentKey`. */
  readonly enabledCounts: ReadonlyMap<string, number>;
  readonly outcomeOf: (row: LostRow) => RowOutcome;
  readonly warnings: readonly string[];
}

/**
 * Plans the restore as the command does, without a request, and keeps no text of it. `rows`: the lost rows whose outcome is asked for.
 * Rejects with StopError when a file is not as its run wrote it.
 */
export async function planRestore(
  old: Dump,
  fresh: Dump,
  rows: readonly LostRow[],
  { database, content, memory, signal }: PlanContext,
): Promise<PlannedRestore> {
  const refused = refusalOf("older", old) ?? refusalOf("newer", fresh);
  if (refused !== null) return refusedRestore(refused);
  const chunks = rows.map(({ id }) => id).filter((id) => id !== "");
  const context = { database, memory, signal };
  const { documents, warnings } = await findEditedDocuments(old, { ...context, documents: [], chunks });
  const wishes = { refusals: new Map(), chosen: new Set<string>(), addDisabled: false };
  const gathered = gatherPlans(rows, content);
  const more = await planEach(old, fresh, { ...context, ...wishes, documents }, gathered.add);
  return { ...gathered.read(), refused: null, warnings: withoutPath([...new Set([...warnings, ...more])], database) };
}

/** The page may be sent to somebody whom the folders of this machine do not concern. */
function withoutPath(warnings: readonly string[], database: string | undefined): readonly string[] {
  return warnings.map((text) => (database === undefined ? text : text.replaceAll(database, "the database of the job")));
}

/** Takes from the plan of one document after another what is to be known of it. */
function gatherPlans(rows: readonly LostRow[], content: boolean) {
  const rowsOf = groupRows(rows, documentKey);
  const lost = new Set(rows.map(rowKey));
  const outcomes = new Map<string, RowOutcome>();
  const enabled: LostRow[] = [];
  const enabledCounts = new Map<string, number>();
  let written = 0;
  const add = (plan: DocumentPlan) => {
    written += countPlan({ documents: [plan] }).rows;
    for (const row of rowsOf.get(documentKey(plan)) ?? []) outcomes.set(rowKey(row), outcomeIn(plan, row, content));
    const again = enabledRows(plan).filter((row) => !lost.has(rowKey(row)));
    if (again.length > 0) enabledCounts.set(documentKey(plan), again.length);
    for (const row of again.slice(0, mostCards - enabled.length)) {
      enabled.push(row);
      outcomes.set(rowKey(row), outcomeIn(plan, row, content));
    }
  };
  const outcomeOf = (row: LostRow) => outcomes.get(rowKey(row)) ?? leftAlone("No plan has it.");
  return { add, read: () => ({ rows: written, enabled, enabledCounts, outcomeOf }) };
}

/** The chunks whose text stands in the newer run, and that only need to be disabled. */
function enabledRows({ dataset_id, document_id, restores }: DocumentPlan): readonly LostRow[] {
  const found = restores.filter(({ texts, disable }) => disable && texts === null);
  return found.map(({ chunk_id, position }) => ({
    ...{ dataset_id, document_id, level: "chunk", segment_id: null, id: chunk_id, position },
    ...{ loss: "enabled", edit: "disabled", text: undefined },
  }));
}

/** Why a run as a whole is of no use for a restore; null where it is. */
function refusalOf(name: "older" | "newer", dump: Dump): string | null {
  try {
    checkFit(dump);
    return null;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return `The ${name} run cannot be used for a restore: ${error.problems.map(({ message }) => message).join("; ")}.`;
  }
}

function refusedRestore(refused: string): PlannedRestore {
  const outcomeOf = () => leftAlone("No row of these runs can be restored.");
  return { rows: 0, refused, enabled: [], enabledCounts: new Map(), outcomeOf, warnings: [] };
}

/** The part that a restore has in mind for a lost row. */
export interface RowOutcome {
  /** Whether it is written by the evidence. */
  readonly isWritten: boolean;
  /** Why it is left alone, as a sentence; null where it is written. */
  readonly reason: string | null;
  /** Whether its owner can have it written by naming it. */
  readonly canBeChosen: boolean;
}

/** The outcome of a row that is left alone, whatever its owner wishes. */
function leftAlone(reason: string): RowOutcome {
  return { isWritten: false, reason, canBeChosen: false };
}

/** Looks a lost row up in the plan of its document. Without `content`, no reason quotes a text of the service. */
function outcomeIn(plan: DocumentPlan, row: LostRow, content: boolean): RowOutcome {
  if (plan.refused !== null) return leftAlone(content ? plan.refused : "Nothing of its document can be restored.");
  if (isWritten(plan, row)) return { isWritten: true, reason: null, canBeChosen: false };
  const listed = plan.listed.find(({ level, id }) => level === row.level && id === row.id);
  if (listed) return { isWritten: false, reason: listed.reason, canBeChosen: listed.choice !== null };
  return leftAlone(row.level === "child_chunk" && row.edit === null ? madeByService : standing);
}

const madeByService = "The service makes such child chunks itself, and nothing proves that a person made this one.";
const standing = "A restore finds its text in the newer run, as a chunk or inside one, and leaves it alone.";

function isWritten({ restores }: DocumentPlan, { level, id }: LostRow): boolean {
  if (level === "child_chunk") return restores.some(({ children }) => children.some(({ child_id }) => child_id === id));
  return restores.some(({ chunk_id, texts, disable }) => chunk_id === id && (texts !== null || disable));
}
