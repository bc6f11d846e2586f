import { type Connection, withSpill } from "../../duckdb/open-duckdb.js";
import { rowsOf } from "../../duckdb/read-rows.js";
import { type Dump, historyOf } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { documentKey } from "../../rows/row.js";
import { cutText, escapeControls } from "../../safe-text.js";
import { type ComparedRuns, compareRuns } from "../compare-runs.js";
import type { DocumentId } from "../document-rows.js";
import { checkFit, type LoadOptions } from "../load-document-rows.js";
import { type DocumentPair, type Names, namesReader, readRunOf, withDiffDefaults } from "../runs-to-compare.js";
import type { PlanOptions } from "./decisions.js";
import { planRows } from "./plan-rows.js";
import { loadLostRows } from "./read-lost.js";
import { type DocumentPlan, isMissed, type Refusals, type RestorePlan } from "./restore-plan.js";

export interface LostOptions extends PlanOptions, LoadOptions {
  /** Ids of the documents to plan for. Empty: all documents of the older run. */
  readonly documents: readonly string[];
  /** Documents that cannot be written to, because they are archived, disabled or being indexed. */
  readonly refusals: Refusals;
  /** Maximum memory of DuckDB, such as `800MB`. */
  readonly memory: string;
  /** Called with the comparison after planning, while its rows can still be read. */
  readonly onCompared?:
    | ((connection: Connection, compared: ComparedRuns, plan: RestorePlan) => Promise<void>)
    | undefined;
}

export interface LostPlan {
  readonly plan: RestorePlan;
  readonly warnings: readonly string[];
}

/**
 * Plans how to restore the losses of a re-index: compares an older run with a newer dump of the same documents. Sends nothing. Only
 * lost rows of a few documents at a time are in Node's memory. Throws UsageError if a dump is not fit for a restore or lacks a
 * named document; StopError if a file differs from its manifest.
 */
export async function planLost(old: Dump, target: Dump, options: LostOptions): Promise<LostPlan> {
  checkOlder(old, options.documents);
  checkFit(target);
  const { memory, signal, progress, documents } = options;
  const database = (await historyOf(old)) ?? null;
  const context = withDiffDefaults({ memory, signal, database, ...(progress ? { progress } : {}) });
  const isWanted = ({ document_id }: DocumentId) => documents.length === 0 || documents.includes(document_id);
  return withSpill(":memory:", options, async (connection) => {
    const compared = await compareRuns(connection, [readRunOf(old), readRunOf(target)], context, isWanted);
    const { plan, warnings } = await planCompared(connection, compared, options);
    await options.onCompared?.(connection, compared, plan);
    return { plan, warnings: [...compared.warnings, ...warnings] };
  });
}

/** Throws UsageError if a run is not fit for a restore, or lacks a named document. */
export function checkOlder(old: Dump, named: readonly string[]): void {
  checkFit(old);
  checkNamed(old, named);
}

/** The plan if no document of the target can be read: it refuses every document. */
export function planUnread(
  { manifest }: Dump,
  { documents, refusals }: Pick<LostOptions, "documents" | "refusals">,
): RestorePlan {
  const wanted = manifest.documents.filter(
    ({ document_id }) => documents.length === 0 || documents.includes(document_id),
  );
  const none = { lost: 0, manual_edits: 0, manual_rows: 0, reindexed: false, has_details: false, lacks_details: false };
  return {
    documents: wanted.map((old) => {
      const { dataset_id, document_id, doc_form } = old;
      const refused = refusalOf({ dataset_id, document_id, old, new: undefined, reason: null }, none, refusals, true);
      return {
        dataset_id,
        document_id,
        document_name: null,
        doc_form,
        lost: 0,
        manual_edits: 0,
        present: 0,
        ...noRows,
        refused,
      };
    }),
  };
}

/** Like `planLost`, for runs that are already compared. */
export async function planCompared(
  connection: Connection,
  compared: ComparedRuns,
  options: PlanOptions & Pick<LostOptions, "refusals" | "signal" | "documents">,
): Promise<LostPlan> {
  const { decisions, signal, documents: named } = options;
  const chosen = new Set([...(decisions ?? [])].flatMap(([id, { restore }]) => (restore ? [id] : [])));
  const readLost = await loadLostRows(connection, compared, chosen, signal);
  const [old, fresh] = compared.sources;
  const namesOf = await namesReader(connection, [old.run, fresh.run]);
  const counts = await countLost(connection);
  const olds = compared.comparison.documents.flatMap((pair, nr) => {
    const found = counts.get(nr);
    if (!pair.old || !found) return [];
    const isNamed = named.includes(pair.document_id);
    const refused = refusalOf(pair, found, options.refusals, isNamed);
    const isPlanned = refused !== null || isNamed || found.lost + found.manual_rows > 0;
    return isPlanned ? [{ ...found, refused, head: headOf(pair, pair.old.doc_form, namesOf(pair), found) }] : [];
  });
  const documents: DocumentPlan[] = [];
  for (let at = 0; at < olds.length; at += documentsAtOnce) {
    signal.throwIfAborted();
    const some = olds.slice(at, at + documentsAtOnce);
    const rowsOf = await readLost(some.flatMap(({ refused, head }) => (refused === null ? [head] : [])));
    for (const { head, refused, reindexed, has_details: hasDetails, lacks_details: lacksDetails } of some) {
      const rows = rowsOf.get(documentKey(head));
      if (refused !== null || !rows) documents.push({ ...head, ...noRows, present: 0, refused });
      else
        documents.push(
          refuseWrites(
            {
              ...head,
              refused,
              ...planRows(rows, { ...options, reindexed, hasDetails, lacksDetails, history: compared.history }),
            },
            options.refusals,
          ),
        );
    }
  }
  return { plan: { documents }, warnings: unknownText(documents, chosen) };
}

/** How many documents' lost rows are in memory at once. */
const documentsAtOnce = 50;

function headOf(
  { dataset_id, document_id }: DocumentPair,
  doc_form: string | null,
  { document_name }: Names,
  { lost, manual_edits, manual_rows }: LostCounts,
) {
  const present = manual_rows - manual_edits;
  return { dataset_id, document_id, document_name, doc_form, lost, manual_edits, present };
}

const noRows = { restores: [], listed: [], losses: [] };

interface LostCounts {
  readonly lost: number;
  /** Lost rows with manual edits, and all rows of the older run with manual edits. */
  readonly manual_edits: number;
  readonly manual_rows: number;
  /** Whether no chunk kept its id. */
  readonly reindexed: boolean;
  /** Whether the target has no details of the document, though the older run has them. */
  readonly lacks_details: boolean;
  /** Whether the older run has details of the document. */
  readonly has_details: boolean;
}

async function countLost(connection: Connection): Promise<ReadonlyMap<number, LostCounts>> {
  const of = (select: string) => `(${select} GROUP BY ALL)`;
  const ids = "dataset_id, document_id";
  const rows = await rowsOf(
    connection,
    `SELECT nr::INTEGER AS nr, coalesce(lost, 0)::INTEGER AS lost, coalesce(manual_edits, 0)::INTEGER AS manual_edits,
      (coalesce(c.rows, 0) + coalesce(k.rows, 0))::INTEGER AS manual_rows, r.document_id IS NULL AS reindexed,
      has_details, lacks_details
    FROM documents d
    LEFT JOIN ${of(`SELECT ${ids}, count(*) AS lost, count(manual_edit) AS manual_edits FROM losses`)} USING (${ids})
    LEFT JOIN ${of(`SELECT ${ids}, count(*) AS rows FROM manual_chunks m JOIN old_chunks o ON o.rowid = m.row`)} c USING (${ids})
    LEFT JOIN ${of(`SELECT ${ids}, count(*) AS rows FROM old_child_chunks WHERE edited OR before IS NOT NULL`)} k USING (${ids})
    LEFT JOIN ${of(`SELECT ${ids} FROM matched_chunks WHERE matched_by = 'id'`)} r USING (${ids})`,
  );
  return new Map(
    rows.map((row) => [
      Number(row.nr),
      {
        lost: Number(row.lost),
        manual_edits: Number(row.manual_edits),
        manual_rows: Number(row.manual_rows),
        reindexed: row.reindexed === true,
        has_details: row.has_details === true,
        lacks_details: row.lacks_details === true,
      },
    ]),
  );
}

/** Why nothing may be written to a document; null if writing is allowed, or there is nothing to write. */
function refusalOf(
  { old, new: now, dataset_id, document_id }: DocumentPair,
  { manual_rows, manual_edits }: LostCounts,
  refusals: Refusals,
  isNamed: boolean,
): string | null {
  if (old && old.status !== "complete") {
    return `The older run did not read all of it: it is ${old.status}${old.error === null ? "" : ` (${old.error})`}.`;
  }
  const isWanted = isNamed || manual_rows > 0;
  const refusal = refusals.get(documentKey({ dataset_id, document_id }));
  if (refusal?.isReadable === false) return isWanted ? refusal.reason : null;
  if (!now) return isWanted ? "The newer run does not have it." : null;
  if (now.status !== "complete")
    return `Its current state could not be read: it is ${now.status}${now.error === null ? "" : ` (${now.error})`}.`;
  const isOther = old?.doc_form != null && now.doc_form !== null && old.doc_form !== now.doc_form;
  if (isOther && (isNamed || manual_edits > 0))
    return `It was ${old.doc_form} and is ${now.doc_form} now: its chunks cannot be compared.`;
  return null;
}

/** Refuses a document that cannot be written to, if it lost manual edits. Otherwise there is nothing to write. */
function refuseWrites(plan: DocumentPlan, refusals: Refusals): DocumentPlan {
  const refusal = refusals.get(documentKey(plan));
  if (!refusal || (plan.restores.length === 0 && !plan.listed.some(isMissed))) return plan;
  return { ...plan, ...noRows, refused: refusal.reason };
}

/** A sentence about chosen rows that are not lost. */
function unknownText(documents: readonly DocumentPlan[], chosen: ReadonlySet<string>): readonly string[] {
  const left = new Set(chosen);
  for (const { restores, listed } of documents) {
    for (const { chunk_id, children } of restores)
      for (const id of [chunk_id, ...children.map((child) => child.child_id)]) left.delete(id);
    for (const { id } of listed) left.delete(id);
  }
  const [first] = left;
  if (first === undefined) return [];
  const others = left.size > 1 ? ` and ${left.size - 1} more rows` : "";
  return [`${escapeControls(first)}${others}: not lost, so nothing is written`];
}

function checkNamed({ manifest, folder }: Dump, named: readonly string[]): void {
  const unknown = named.filter((id) => !manifest.documents.some(({ document_id }) => document_id === id));
  if (unknown.length === 0) return;
  const problems = unknown.map((id) => ({ path: "", message: `document ${cutText(escapeControls(id), 80)}` }));
  throw new UsageError(`${folder} does not have:`, problems);
}
