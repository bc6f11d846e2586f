import { join } from "node:path";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import { groupRows } from "../compare/document-rows.js";
import { loadDocumentRows } from "../compare/load-document-rows.js";
import { type EditedDocuments, findEditedDocuments } from "../compare/lost/evidence.js";
import { planLost } from "../compare/lost/plan-lost.js";
import { countPlan, type Refusals, type RestorePlan, type TargetDocument } from "../compare/lost/restore-plan.js";
import { withSpill } from "../duckdb/open-duckdb.js";
import { type Dump, databaseOf, openDump } from "../dump/open-dump.js";
import { StopError, UsageError } from "../errors.js";
import type { OpenService } from "../job/open-service.js";
import { settingNames } from "../job/open-service.js";
import { documentKey } from "../rows/row.js";
import { applyPlan, type Writer, type WriterOptions, withWriter } from "./apply/apply-plan.js";
import { type Intent, type Journal, openJournal, type WrittenRow } from "./apply/journal.js";
import { proveRestore } from "./apply/prove.js";
import { reconcileJournal } from "./apply/reconcile.js";
import {
  type Applied,
  type ProofDifference,
  type RestoreLost,
  type RestoreOptions,
  type RestoreResult,
  statusOf,
} from "./restore-options.js";
import {
  dumpTarget,
  openTarget,
  openTemporaryFolder,
  readGone,
  readRefusals,
  type TargetReading,
  targetLabels,
  withRestoreFolder,
} from "./target.js";

/**
 * Restores what a re-index took from the documents of a run: plans it and, with `apply`, writes it and proves it. Rejects with
 * UsageError where it is refused as a whole, BusyError where another restore of the run is at work, StopError where the service or
 * the disk ends it, and with the reason of `options.signal`.
 */
export const restoreLost: RestoreLost = async (options) => {
  const old = await openDump(options.folder, "nothing was restored");
  const baseUrl = addressOf(old.manifest.service.base_url, options);
  const context = { old, baseUrl, database: await databaseOf(old), options };
  if (!options.apply) return planOnly(context);
  return withRestoreFolder(old.folder, options, ({ path, signal, checkOwn }) =>
    applyLost({ ...context, options: { ...options, signal } }, path, checkOwn),
  );
};

/** The documents of the target as they stand. */
interface Target {
  /** Undefined where no document may be written. */
  readonly dump: Dump | undefined;
  readonly refusals: Refusals;
}

async function planOnly(context: RestoreContext): Promise<RestoreResult> {
  const edited = await editedDocumentsOf(context);
  const { against } = context.options;
  if (against !== undefined) {
    const dump = await openDump(against, "nothing was compared");
    return planned(context, edited, { dump, refusals: new Map() });
  }
  if (edited.documents.length === 0) return planned(context, edited, nothingRead);
  await using folder = await openTemporaryFolder();
  await using service = await openServiceOf(context);
  return await planned(context, edited, await readTarget(context, service.client, edited, folder.path));
}

function openServiceOf({ old, baseUrl, options }: RestoreContext): Promise<OpenService> {
  return openTarget({ ...options, baseUrl }, old.manifest.documents);
}

const nothingRead: Target = { dump: undefined, refusals: new Map() };

function editedDocumentsOf({ old, database, options }: RestoreContext): Promise<EditedDocuments> {
  options.progress.step = "reading the run";
  return findEditedDocuments(old, { ...options, database, progress: undefined });
}

async function readTarget(
  context: RestoreContext,
  api: KnowledgeApi,
  edited: EditedDocuments,
  dir: string,
): Promise<Target> {
  context.options.progress.step = "reading the documents as they stand";
  const fit = edited.documents.filter(({ refused }) => refused === null);
  const refusals = await readRefusals(api, fit);
  const documents = fit.filter((document) => refusals.get(documentKey(document))?.isReadable !== false);
  const dump =
    documents.length > 0 ? await dumpDocuments(context, { name: "before", dir, documents, details: true }) : undefined;
  return { dump, refusals };
}

/** The plan, and nothing written. */
async function planned(
  context: RestoreContext,
  { documents, warnings }: EditedDocuments,
  { dump, refusals }: Target,
  chosen: readonly string[] = [],
): Promise<RestoreResult> {
  const { old, baseUrl, database, options } = context;
  const { memory, signal, addDisabled } = options;
  options.progress.step = "planning";
  const choice = { chosen: new Set([...options.chunks, ...chosen]), addDisabled };
  const lost = await planLost(old, dump, { documents, database, refusals, memory, signal, ...choice });
  const { job, run_id } = old.manifest;
  return resultOf({
    run: { folder: old.folder, job, run_id },
    base_url: baseUrl,
    against: options.apply ? null : (options.against ?? null),
    plan: lost.plan,
    warnings: [...new Set([...warnings, ...lost.warnings])],
  });
}

type Facts = Pick<RestoreResult, "run" | "base_url" | "against" | "plan" | "warnings"> &
  Partial<Pick<RestoreResult, "applied" | "differences" | "undo" | "journal">>;

function resultOf(facts: Facts): RestoreResult {
  const whole = { applied: null, differences: null, undo: null, journal: null, ...facts };
  return { ...whole, status: statusOf(whole), counts: countPlan(facts.plan) };
}

/** Goes on with the journal of an earlier process that did not end, or begins one. */
async function applyLost(
  context: RestoreContext,
  folder: string,
  checkOwn: () => Promise<void>,
): Promise<RestoreResult> {
  const { old, baseUrl, options } = context;
  const journal = await openJournal(folder, { runId: old.manifest.run_id, baseUrl, now: options.now, checkOwn });
  try {
    await using service = await openServiceOf(context);
    const api = service.client;
    return await withWriter(writerOptions(context, api.pace), (writer) =>
      applyWith({ context, folder, journal, api, writer }),
    );
  } finally {
    await journal.close();
  }
}

interface Tools {
  readonly context: RestoreContext;
  readonly folder: string;
  readonly journal: Journal;
  readonly api: KnowledgeApi;
  readonly writer: Writer;
}

async function applyWith(tools: Tools): Promise<RestoreResult> {
  const { context, folder, journal, api } = tools;
  if (journal.undo !== null) await reconcileJournal(applyOptions(tools));
  const edited = await editedDocumentsOf(context);
  const target = await readTarget(context, api, edited, folder);
  const shown = await planned(context, edited, target);
  const { go, chosen } = await context.options.confirm(shown);
  if (!go) return shown;
  const final = chosen.length > 0 ? await planned(context, edited, target, chosen) : shown;
  if (target.dump && final.counts.writes > 0) await journal.begin(target.dump.folder);
  const applied = await write(tools, final.plan);
  const differences = journal.written.length > 0 ? await proveWritten(tools) : null;
  await journal.end();
  const undos = undosOf(journal);
  return resultOf({
    ...final,
    warnings: [...final.warnings, ...undos.slice(1).map(alsoUndo)],
    applied,
    differences,
    undo: undos[0] ?? null,
    journal: journal.undo === null ? null : join(folder, "journal.jsonl"),
  });
}

async function write(tools: Tools, plan: RestorePlan): Promise<Applied> {
  tools.context.options.progress.step = "writing";
  return applyPlan(plan, applyOptions(tools));
}

/** The dumps from before the first writes, in the order of these: documents that an earlier process did not write have a later one. */
function undosOf(journal: Journal): readonly string[] {
  const undos = journal.written.map(({ document_id }) => journal.undoOf(document_id));
  return [...new Set([...undos, ...(undos.length > 0 ? [] : [journal.undo])].filter((each) => each !== null))];
}

function alsoUndo(folder: string): string {
  return `${folder} is part of the undo, too: it has the documents that the earlier restore did not write`;
}

function applyOptions({ context, journal, api, writer }: Tools) {
  const { signal, log, progress, sleep, now, settle, lockTime, concurrency } = context.options;
  return {
    ...{ api, writer, journal, signal, log, progress, sleep },
    ...(concurrency === undefined ? {} : { concurrency }),
    settle: settle / 1_000,
    lockTime: lockTime / 1_000,
    now: () => now().getTime(),
  };
}

/** The writer keeps to the pace of the client: both together send no more requests a second than `maxRps`. */
function writerOptions({ baseUrl, options }: RestoreContext, pace: WriterOptions["pace"]): WriterOptions {
  const { key = "", keyEnv, env, signal, timeout, concurrency = 4 } = options;
  return {
    ...{ baseUrl, key, keySource: `the variable ${keyEnv}`, concurrency, env, signal },
    ...(pace ? { pace } : {}),
    names: settingNames(targetLabels),
    timeout: timeout / 1_000,
  };
}

interface WrittenOptions {
  readonly context: RestoreContext;
  /** The folder of the restore. */
  readonly folder: string;
  readonly journal: Journal;
  readonly api: KnowledgeApi;
}

/** Dumps the documents that were written to, and compares each with what it was before its first write. */
async function proveWritten(options: WrittenOptions): Promise<readonly ProofDifference[]> {
  const { context, folder, journal, api } = options;
  const { written, openAdds } = journal;
  context.options.progress.step = "proving";
  const ids = new Set(written.map(({ document_id }) => document_id));
  const documents = context.old.manifest.documents.filter(({ document_id }) => ids.has(document_id));
  const gone = await readGone(api, documents);
  const differences = written.filter((row) => gone.has(documentKey(row))).map(goneWith);
  const left = documents.filter((document) => !gone.has(documentKey(document)));
  if (left.length === 0) return differences;
  const after = await dumpDocuments(context, { name: "after", dir: folder, documents: left });
  for (const [undo, those] of groupRows(left, ({ document_id }) => journal.undoOf(document_id) ?? "")) {
    const before = await openDump(undo, "nothing was proved");
    const proof = { ...context.options, documents: those, before, after, written, openAdds };
    differences.push(...(await proveDocuments(proof)));
  }
  return differences;
}

function goneWith({ document_id, level, id }: WrittenRow): ProofDifference {
  return { document_id, level, id, position: null, reason: "this restore wrote it, and its document is gone" };
}

interface ProofOptions extends Pick<RestoreOptions, "memory" | "signal"> {
  /** The documents that were written to. */
  readonly documents: readonly TargetDocument[];
  /** From before the first write. */
  readonly before: Dump;
  readonly after: Dump;
  readonly written: readonly WrittenRow[];
  /** Adds whose answer never came. */
  readonly openAdds: readonly Intent[];
}

/**
 * Compares documents with what they were before the first write, one at a time. Gives the unannounced differences. StopError where one could
 * not be read whole: then nothing is proved.
 */
async function proveDocuments(options: ProofOptions): Promise<readonly ProofDifference[]> {
  const { documents, before, after, written, openAdds } = options;
  refuseUnread(after);
  return withSpill(":memory:", options, async (connection) => {
    const readBefore = await loadDocumentRows(connection, "before", before, documents, options);
    const readAfter = await loadDocumentRows(connection, "after", after, documents, options);
    const differences: ProofDifference[] = [];
    for (const document of documents) {
      const rows = { before: await readBefore(document), after: await readAfter(document) };
      differences.push(...proveRestore({ documentId: document.document_id, ...rows, written, openAdds }));
    }
    return differences;
  });
}

function refuseUnread({ manifest }: Dump): void {
  const unread = manifest.documents.filter(({ status }) => status !== "complete");
  if (unread.length === 0) return;
  const sentences = unread.map(({ document_id, status, error }) => `  ${document_id}: ${error ?? status}`);
  throw new StopError(
    `what was written could not be proved, as documents could not be read whole:\n${sentences.join("\n")}\nrun the same command again to prove it`,
  );
}

/** Everything that all steps of a restore go by. */
interface RestoreContext {
  /** The older run, whose rows are restored. */
  readonly old: Dump;
  /** The service that they are restored to. */
  readonly baseUrl: string;
  /** The database of the job, whose history has what stood there before an edit; undefined where there is none. */
  readonly database: string | undefined;
  readonly options: RestoreOptions;
}

/** Dumps documents of the target as they stand, into a run of the folder `<dir>/<name>`. */
async function dumpDocuments(
  { old, baseUrl, options }: RestoreContext,
  reading: Pick<TargetReading, "name" | "dir" | "documents" | "details">,
): Promise<Dump> {
  const withChildren = new Set(
    old.manifest.documents
      .filter(({ child_chunk_count }) => child_chunk_count > 0)
      .map(({ document_id }) => document_id),
  );
  const hasChildren = reading.documents.some(({ document_id }) => withChildren.has(document_id));
  return dumpTarget({ ...options, baseUrl }, { ...reading, hasChildren }, options.progress, "nothing was restored");
}

/**
 * The address of the service to restore to: the one that was named, else the one that the run came from. UsageError where the
 * owner's settings name another host than the run: a run of somebody else must not decide where the key is sent.
 */
export function addressOf(runUrl: string, { to, own }: Pick<RestoreOptions, "to" | "own">): string {
  if (to !== undefined) return to.replace(/\/+$/, "");
  if (own === undefined || originOf(own.url) === originOf(runUrl)) return runUrl;
  const message = `the run came from ${runUrl}, and ${own.place} names ${own.url}; name the service to restore to with --to`;
  throw new UsageError("It is not clear which service to restore to:", [{ path: "--to", message }]);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
