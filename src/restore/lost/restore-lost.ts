import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { groupRows } from "../../compare/document-rows.js";
import { loadDocumentRows } from "../../compare/load-document-rows.js";
import type { Decision } from "../../compare/lost/decisions.js";
import { checkOlder, planLost, planUnread } from "../../compare/lost/plan-lost.js";
import { countPlan, type Refusals } from "../../compare/lost/restore-plan.js";
import { type LivePair, pairForProof } from "../../compare/proof/proof-pairs.js";
import { compareRestored, refuseUnread } from "../../compare/proof/prove.js";
import { withSpill } from "../../duckdb/open-duckdb.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { restoreFolderOf } from "../../dump/run-id.js";
import { UsageError } from "../../errors.js";
import type { Journal } from "../../journal/journal.js";
import type { WrittenRow } from "../../journal/journal-state.js";
import { documentKey } from "../../rows/row.js";
import { makeTemporaryFolder } from "../../temporary-folder.js";
import { openSession, type Session } from "../session.js";
import {
  dumpTarget,
  haveChildren,
  isSameService,
  openTarget,
  readLive,
  readRefusals,
  type TargetService,
} from "../target.js";
import { mayMakeTwo } from "../write-once.js";
import { applyPlan, reconcileLost } from "./apply-plan.js";
import { checkFree, planFileWriter, readPlanFile } from "./plan-file.js";
import {
  type ProofDifference,
  type RestoreLost,
  type RestoreOptions,
  type RestoreResult,
  statusOf,
} from "./restore-options.js";

/** Plans how to restore the losses of a re-index and, with `apply`, writes and proves it. Throws UsageError if it is refused as a whole. */
export const restoreLost: RestoreLost = async (given) => {
  const old = await openDump(given.folder, "nothing was restored");
  checkOlder(old, given.documents);
  const options = { ...given, baseUrl: addressOf(old.manifest.service.base_url, given) };
  const { plan, planOut, against, apply } = options;
  if (planOut !== undefined) await checkFree(planOut); // before the documents are read
  const decisions = plan === undefined ? undefined : await readPlanFile(plan, old.manifest.run_id);
  const context = { old, decisions, options };
  if (apply) {
    await using session = await openSession(old, restoreFolderOf(old.folder), options);
    return await applyLost({ ...context, options: { ...options, signal: session.signal } }, session);
  }
  if (against !== undefined)
    return planned(context, { dump: await openDump(against, "nothing was compared"), refusals: new Map() });
  await using folder = await makeTemporaryFolder("restore");
  await using service = await openTarget(options, old.manifest.documents);
  return await planned(context, await readTarget(context, service.client, folder.path));
};

interface RestoreContext {
  /** The older run to restore from. */
  readonly old: Dump;
  /** The decisions of a plan file; undefined without one. */
  readonly decisions: ReadonlyMap<string, Decision> | undefined;
  /** `baseUrl`: the service to restore to. */
  readonly options: RestoreOptions & TargetService;
}

/** The current documents of the target. */
interface Target {
  /** Undefined if no document can be written. */
  readonly dump: Dump | undefined;
  readonly refusals: Refusals;
}

async function readTarget({ old, options }: RestoreContext, api: KnowledgeApi, dir: string): Promise<Target> {
  options.progress.step = "reading the documents as they stand";
  const wanted = old.manifest.documents.filter(
    ({ document_id, status }) =>
      status === "complete" && (options.documents.length === 0 || options.documents.includes(document_id)),
  );
  const refusals = await readRefusals(api, wanted);
  const documents = wanted.filter((document) => refusals.get(documentKey(document))?.isReadable !== false);
  if (documents.length === 0) return { dump: undefined, refusals };
  const reading = { name: "before", dir, documents, hasChildren: haveChildren(old, documents), details: true } as const;
  return { dump: await dumpTarget(options, reading, options.progress), refusals };
}

/** The plan; writes nothing. `decided`: the owner's decisions at the terminal. */
async function planned(
  context: RestoreContext,
  { dump, refusals }: Target,
  decided?: ReadonlyMap<string, Decision>,
): Promise<RestoreResult> {
  const { old, options } = context;
  const { baseUrl, memory, signal, addManualEdits, documents, planOut, apply, against } = options;
  options.progress.step = "planning";
  const decisions = decided ?? context.decisions;
  const onCompared = planOut === undefined || decided ? undefined : planFileWriter(planOut, old.manifest);
  const wishes = { documents, refusals, memory, signal, decisions, addManualEdits, onCompared };
  const lost = dump ? await planLost(old, dump, wishes) : { plan: planUnread(old, wishes), warnings: [] };
  const { plan, warnings } = lost;
  const { job, run_id } = old.manifest;
  const nothing = { applied: null, differences: null, undo: null, journal: null };
  const sum = (name: "lost" | "manual_edits") => plan.documents.reduce((all, document) => all + document[name], 0);
  return {
    ...nothing,
    run: { folder: old.folder, job, run_id },
    base_url: baseUrl,
    against: apply ? null : (against ?? null),
    plan,
    plan_file: onCompared && dump ? (planOut ?? null) : null,
    warnings,
    lost: sum("lost"),
    manual_edits: sum("manual_edits"),
    counts: countPlan(plan),
    status: statusOf({ ...nothing, plan }),
  };
}

/** Continues the restore of an earlier process that did not end, or begins one. */
async function applyLost(context: RestoreContext, session: Session): Promise<RestoreResult> {
  const { journal, api, folder } = session;
  const { progress, confirm, documents } = context.options;
  const earlier = journal.writes;
  if (journal.undo !== null) await reconcileLost(session);
  const target = await readTarget(context, api, folder);
  const shown = await planned(context, target);
  const { go, decisions } = await confirm(shown);
  if (!go) return shown;
  const final = decisions ? await planned(context, target, decisions) : shown;
  if (target.dump && final.counts.writes > 0) journal.beginWith(target.dump.folder);
  progress.step = "writing";
  const applied = await applyPlan(final.plan, session);
  const isOurs = (id: string) => documents.length === 0 || documents.includes(id);
  const written = journal.written.filter(({ document_id: id }) => isOurs(id) || journal.isWrittenAfter(id, earlier));
  const differences = written.length > 0 ? await proveWritten(context, session, written) : null;
  const [undo = null, ...others] = undosOf(journal);
  const result = {
    ...final,
    warnings: [...final.warnings, ...others.map((folder) => `${folder} ${alsoUndo}`)],
    applied: written.length === 0 && journal.writes === earlier ? { ...applied, writes: 0 } : applied,
    differences,
    undo,
    journal: journal.undo === null ? null : journal.path,
  };
  await endJournal(isOurs, journal);
  return { ...result, status: statusOf(result) };
}

/**
 * Ends the restore in the journal. But if an interrupted restore wrote documents that are not part of this command, keeps it open for
 * their undo and proof, and only records which documents of this command are finished.
 */
async function endJournal(isOurs: (documentId: string) => boolean, journal: Journal): Promise<void> {
  const { unfinished, unsettled } = journal;
  if ([...unfinished, ...unsettled].every(isOurs)) await journal.end();
  else for (const id of unfinished) if (isOurs(id) && !unsettled.has(id)) await journal.finish(id);
}

/** The dumps to undo the restore with. There may be several: if a later process first wrote a document, it made a dump before that. */
function undosOf(journal: Journal): readonly string[] {
  const { written, undo } = journal;
  const ids = new Set(written.map(({ document_id }) => document_id));
  const undos = ids.size > 0 ? [...ids].map((id) => journal.undoOf(id)) : [undo];
  return [...new Set(undos.filter((each) => each !== null))];
}

const alsoUndo = "is part of the undo, too: it has the documents that the earlier restore did not write";

/** Compares the documents of written rows with their state before the first write. Returns the differences that no write explains. */
async function proveWritten(
  { old, options }: RestoreContext,
  { folder, journal, api }: Session,
  written: readonly WrittenRow[],
): Promise<readonly ProofDifference[]> {
  options.progress.step = "proving";
  const ids = new Set(written.map(({ document_id }) => document_id));
  const documents = old.manifest.documents.filter(({ document_id }) => ids.has(document_id));
  const pairs = documents.map((document) => ({ old: document, live: document }));
  const reading = { name: "after", dir: folder, pairs, hasChildren: haveChildren(old, documents) } as const;
  const live = await readLive(api, options, reading, options.progress);
  const gone = new Set(live.gone.map((pair) => documentKey(pair.live)));
  const reason = "this restore wrote it, and its document is gone";
  const differences = written
    .filter((row) => gone.has(documentKey(row)))
    .map(({ document_id, level, id }): ProofDifference => ({ document_id, level, id, position: null, reason }));
  if (!live.dump) return differences;
  refuseUnread(live.dump);
  for (const [undo, own] of groupRows(live.pairs, (pair) => journal.undoOf(pair.old.document_id) ?? "")) {
    const dumps = { old: await openDump(undo, "nothing was proved"), live: live.dump };
    differences.push(...(await proveDocuments(own, dumps, journal, options)));
  }
  return differences;
}

/** Compares documents in two dumps, one at a time; reads only rows that differ or were written. */
function proveDocuments(
  pairs: readonly LivePair[],
  dumps: Readonly<Record<"old" | "live", Dump>>,
  { written, open }: Journal,
  { memory, signal }: RestoreOptions,
): Promise<readonly ProofDifference[]> {
  const openAdds = open.filter(mayMakeTwo);
  const documents = pairs.map((pair) => pair.old);
  return withSpill(":memory:", { memory, signal }, async (connection) => {
    for (const side of ["old", "live"] as const)
      await loadDocumentRows(connection, side, dumps[side], documents, { signal });
    const pairsOf = await pairForProof(connection, pairs, { by: "id", kept: written.map(({ id }) => id) });
    const differences: ProofDifference[] = [];
    for (const [nr, { document_id }] of documents.entries())
      for await (const found of compareRestored(pairsOf(nr), { documentId: document_id, written, openAdds }))
        differences.push({ document_id, ...found });
    return differences;
  });
}

/**
 * The address of the service to restore to: the named one, otherwise the run's. Throws UsageError if the owner's settings name
 * another host than the run: a run from someone else must not decide where the key is sent.
 */
export function addressOf(runUrl: string, { to, own }: Pick<RestoreOptions, "to" | "own">): string {
  if (to !== undefined) return to.replace(/\/+$/, "");
  if (own === undefined || isSameService(own.url, runUrl)) return runUrl;
  const message = `the run came from ${runUrl}, and ${own.place} names ${own.url}; name the service to restore to with --to`;
  throw new UsageError("It is not clear which service to restore to:", [{ path: "--to", message }]);
}
