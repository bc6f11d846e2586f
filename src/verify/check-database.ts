import type { Manifest } from "../dump/manifest/manifest.js";
import { type Kind, namesWith } from "../rows/columns.js";
import { documentKey } from "../rows/document-row.js";
import { countOf } from "../words.js";
import { compareRows } from "./compare-rows.js";
import type { Findings } from "./findings.js";
import { isGuarded, type LoadedFile } from "./load-files.js";
import { isReplaced, type RunDatabase } from "./read-database.js";
import { manifestRows } from "./readers/table-rows.js";
import type { Loaded, RowStore } from "./row-store.js";

/** The part of a run that the database of its job has. */
export interface DatabaseShare {
  /** Documents that this run was the last to read. */
  readonly kept: Manifest["documents"];
  /** Documents that a later run read: the database has their newer state, with which nothing is compared. */
  readonly later: number;
  /** Documents that were unstable in this run: the database keeps the complete state that an earlier run read. */
  readonly passedOver: number;
}

/** Finds out which documents the database has as this run read them; one that it lacks is a finding. */
export function shareOf(manifest: Manifest, name: string, { readBy }: RunDatabase, findings: Findings): DatabaseShare {
  const kept: Manifest["documents"][number][] = [];
  let [later, passedOver] = [0, 0];
  for (const document of manifest.documents.filter(({ status }) => status !== "failed")) {
    const { run, status } = readBy.get(documentKey(document)) ?? {};
    if (run === manifest.run_id) kept.push(document);
    else if (run !== undefined && run > manifest.run_id) later++;
    else if (run !== undefined && document.status === "unstable" && status === "complete") passedOver++;
    else {
      const what = run === undefined ? "missing" : `from the older run ${run}`;
      findings.add(name, "document", `document ${document.document_id} is ${what}`);
    }
  }
  return { kept, later, passedOver };
}

/** The table `runs` has one row of this run, which says what the manifest says. */
export function checkRunRow(manifest: Manifest, name: string, { runs }: RunDatabase, findings: Findings): void {
  const { status, counts } = manifest;
  const [row] = runs;
  if (!row || runs.length > 1)
    findings.add(name, "runs", `has ${countOf(runs.length, "row")} for run ${manifest.run_id} in the table runs`);
  const wanted = { status, documents: counts.documents, chunks: counts.chunks, child_chunks: counts.child_chunks };
  for (const [column, value] of Object.entries(wanted)) {
    if (row && String(row[column]) !== String(value))
      findings.add(name, "runs", `runs.${column} is ${row[column]}, the manifest says ${value}`);
  }
}

export interface ComparedDatabase {
  readonly manifest: Manifest;
  readonly share: DatabaseShare;
  readonly database: RunDatabase;
  /** The rows of the run folder, of the kinds that can be read there. */
  readonly folder: ReadonlyMap<Kind, LoadedFile>;
  readonly found: ReadonlyMap<Kind, Loaded>;
}

/** The rows of the run folder are in the database, and no others of this run. Their order is not looked at. */
export async function compareDatabase(store: RowStore, compared: ComparedDatabase, findings: Findings): Promise<void> {
  const { manifest, share, database, folder, found } = compared;
  const documents = await store.load(manifestRows({ ...manifest, documents: share.kept }), findings);
  if (!documents) return;
  for (const [kind, rows] of found) {
    const all = kind === "documents" ? documents : folder.get(kind);
    if (!all) continue;
    const wanted = { ...all, table: await tableOf(kind, all, documents, store, database, findings) };
    const unguarded = isGuarded(all, manifest);
    const exactly = kind !== "indexing_status"; // kbdump status may have added readings at the same time
    await compareRows(store, wanted, rows, findings, { unguarded, ordered: false, exactly });
  }
  for (const kind of ["chunks", "child_chunks"] as const) {
    const name = found.get(kind)?.source.name;
    const count = await database.ofOtherRuns(kind);
    if (name && count > 0)
      findings.add(
        name,
        "run_id",
        `${countOf(count, "row")} of ${kind} ${count === 1 ? "has" : "have"} another run_id than the document`,
      );
  }
}

/** SQL: the rows that the database should have. */
async function tableOf(
  kind: Kind,
  { table }: Loaded,
  documents: Loaded,
  store: RowStore,
  { readLater }: RunDatabase,
  findings: Findings,
): Promise<string> {
  if (kind === "chunks" || kind === "child_chunks")
    return `(FROM ${table} SEMI JOIN ${documents.table} USING (dataset_id, document_id))`;
  const later = isReplaced(kind) && (await store.load(readLater(kind), findings));
  return later ? `(FROM ${table} ANTI JOIN ${later.table} USING (${namesWith(kind, "document").join(", ")}))` : table;
}
