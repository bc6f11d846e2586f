import { type Connection, withSpill } from "../../duckdb/open-duckdb.js";
import { checkRows } from "../../dump/load.js";
import type { Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/row.js";
import { escapeControls } from "../../safe-text.js";
import type { DocumentId } from "../document-rows.js";
import { isOf, type LoadOptions, loadDocumentRows, type ReadDocumentRows } from "../load-document-rows.js";
import { checkFit, type EditedDocument, emptyHistory, loadHistory, readDocumentHistory } from "./evidence.js";
import { type PlanOptions, planDocument, refusedPlan } from "./plan-document.js";
import { type DocumentPlan, isMissed, type Refusals, type RestorePlan } from "./restore-plan.js";

export interface LostOptions extends PlanOptions, LoadOptions {
  /** The documents that `findEditedDocuments` gave. */
  readonly documents: readonly EditedDocument[];
  /** The job's database; undefined where there is none. */
  readonly database: string | undefined;
  /** Documents that cannot be written to: archived, disabled, being indexed. */
  readonly refusals: Refusals;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
}

export interface LostPlan {
  readonly plan: RestorePlan;
  readonly warnings: readonly string[];
}

/**
 * Plans how to restore what a re-index took: compares an older run with a newer dump of the same documents, which need not be
 * there where every document has a refusal. It sends nothing.
 * The rows of one document at a time are in the memory of Node; those of the others are in DuckDB. UsageError when a dump is not
 * fit for a restore, StopError when a file is not as its run wrote it.
 */
export async function planLost(old: Dump, target: Dump | undefined, options: LostOptions): Promise<LostPlan> {
  const documents: DocumentPlan[] = [];
  const warnings = await planEach(old, target, options, (plan) => documents.push(plan));
  return { plan: { documents }, warnings };
}

/** The same for who does not keep the plans, which hold texts: `onPlan` gets that of each document. Gives the warnings. */
export async function planEach(
  old: Dump,
  target: Dump | undefined,
  options: LostOptions,
  onPlan: (plan: DocumentPlan) => void,
): Promise<readonly string[]> {
  checkFit(old);
  if (target) checkFit(target);
  return withSpill(":memory:", options, async (connection) => {
    const { documents, database, signal } = options;
    const readOld = await loadDocumentRows(connection, "old", old, documents, options);
    const readTarget = target && (await loadDocumentRows(connection, "target", target, documents, options));
    await connection.run(emptyHistory);
    const of = { run_id: old.manifest.run_id, chunks: "old_chunks", children: "old_child_chunks" };
    const warning = database === undefined ? undefined : await loadHistory(connection, { ...of, database }, signal);
    const nameOf = await readNames(connection, target ? [old, target] : [old], options);
    const warnings = warning === undefined ? [] : [warning];
    if (options.progress) options.progress.step = "comparing documents";
    for (const document of documents) {
      const refused = refusalOf(document, target, options.refusals);
      const document_name = nameOf(document);
      if (refused !== null || !readTarget) {
        onPlan(refusedPlan(document, document_name, refused ?? unread));
        continue;
      }
      const read = { readOld, readTarget, document, document_name };
      const { plan, unknown } = await planOne(connection, read, options);
      onPlan(refuseWrites(plan, options.refusals));
      warnings.push(...unknown);
    }
    return warnings;
  });
}

interface Reading {
  readonly readOld: ReadDocumentRows;
  readonly readTarget: ReadDocumentRows;
  readonly document: EditedDocument;
  readonly document_name: string | null;
}

/** The plan of one document, and a sentence for every id that was chosen although it is not lost. */
async function planOne(
  connection: Connection,
  { readOld, readTarget, document, document_name }: Reading,
  { chosen, addDisabled }: PlanOptions,
): Promise<{ readonly plan: DocumentPlan; readonly unknown: readonly string[] }> {
  const [old, target] = [await readOld(document), await readTarget(document)];
  const history = await readDocumentHistory(connection, document);
  const plan = planDocument(old, history, target, { chosen, addDisabled, document_name });
  const covered = new Set([
    ...plan.listed.map(({ id }) => id),
    ...plan.restores.flatMap(({ chunk_id, texts, disable }) => (texts || disable ? [chunk_id] : [])),
    ...plan.restores.flatMap(({ children }) => children.map(({ child_id }) => child_id)),
  ]);
  const here = plan.refused === null ? [...old.chunks, ...old.children] : [];
  const standing = here.filter(({ id }) => chosen.has(id) && !covered.has(id));
  return {
    plan,
    unknown: standing.map(({ id }) => `${escapeControls(id)} was chosen and is not lost: nothing is written for it`),
  };
}

/** A document that takes no writes is refused if it lost manual edits; if not, there is nothing to write to it. */
function refuseWrites(plan: DocumentPlan, refusals: Refusals): DocumentPlan {
  const refusal = refusals.get(documentKey(plan));
  if (!refusal || (plan.restores.length === 0 && !plan.listed.some(isMissed))) return plan;
  return refusedPlan(plan, plan.document_name, refusal.reason);
}

const unread = "The newer run does not have it.";

/** Why nothing may be written to a document; null where something may. */
function refusalOf(
  document: EditedDocument,
  target: Dump | undefined,
  refusals: LostOptions["refusals"],
): string | null {
  if (document.refused !== null) return document.refused;
  const refusal = refusals.get(documentKey(document));
  if (refusal?.isReadable === false) return refusal.reason;
  const row = target?.manifest.documents.find(isOf(document));
  if (!row) return unread;
  if (row.status === "complete") return null;
  return `Its present state could not be read: it is ${row.status}${row.error === null ? "" : ` (${row.error})`}.`;
}

/** Reads the names of documents; those of a later dump win. Null where no dump has the list of documents. */
async function readNames(
  connection: Connection,
  dumps: readonly Dump[],
  { signal }: LoadOptions,
): Promise<(document: DocumentId) => string | null> {
  const names = new Map<string, string>();
  for (const dump of dumps) {
    const [file] = dump.tablesOf(["document_info"], { guarded: true }) ?? [];
    if (!file) continue;
    const rows = await checkRows(dump, file, { signal });
    const found = await connection.runAndReadAll(
      `SELECT dataset_id, document_id, name FROM ${rows.sql} SEMI JOIN old_documents USING (dataset_id, document_id) WHERE name <> ''`,
    );
    for (const [dataset_id, document_id, name] of found.getRowsJson())
      names.set(documentKey({ dataset_id, document_id }), String(name));
  }
  return (document) => names.get(documentKey(document)) ?? null;
}
