import type { Listed } from "../../client/check-answer.js";
import type { KnowledgeApi } from "../../client/knowledge-api.js";
import type { Client } from "../../client/open-client.js";
import { loadDocumentRows, type ReadDocumentRows } from "../../compare/load-document-rows.js";
import { Prefetch } from "../../crawl/prefetch.js";
import { readList } from "../../crawl/read-list.js";
import { withSpill } from "../../duckdb/open-duckdb.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { SkipError, UsageError } from "../../errors.js";
import { settingNames } from "../../job/open-service.js";
import { nameAndId } from "../../words.js";
import { withWriter } from "../apply/apply-plan.js";
import { type HeldFolder, openTarget, refuseLinksBeside, targetLabels, withRestoreFolder } from "../target.js";
import { readLive } from "./against.js";
import { applyCopy } from "./apply/apply-copy.js";
import { reconcileWrites } from "./apply/execute-write.js";
import { compareDumps, copiesOfPlan, type DocumentPair } from "./compare/compare-dumps.js";
import { type CopyPlan, type DocumentPlan, datasetIdOf } from "./copy-plan.js";
import {
  type AppliedCopy,
  type CopyDifference,
  type CopyOptions,
  type CopyResult,
  copyFolderOf,
  countCopy,
  isSameService,
  type JournalFacts,
  type Move,
  type MovedDocument,
  noFacts,
  plainBaseUrl,
  statusOf,
} from "./copy-result.js";
import { type CopyJournal, openCopyJournal, readJournalFacts } from "./journal.js";
import { type PlannedCopy, planCopy } from "./plan/plan-copy.js";

/**
 * Copies a dump to another service: plans it and, with `apply`, writes it and proves it. Rejects with UsageError where it is refused as a
 * whole, BusyError where another restore of the run is at work, StopError where the service or the disk ends it, and with the
 * reason of `options.signal`.
 */
export const moveRun: Move = async (given) => {
  const options = { ...given, baseUrl: plainBaseUrl(given.baseUrl) };
  options.progress.step = "reading the run";
  const old = await openDump(options.folder, "nothing was restored");
  if (old.manifest.documents.length === 0)
    throw new UsageError(`${old.folder} has no documents: nothing to restore`, []);
  const context = { old, options };
  if (!options.apply) {
    await refuseLinksBeside(old.folder);
    const id = { runId: old.manifest.run_id, baseUrl: options.baseUrl };
    const facts = options.dataset === "new" ? noFacts : await readJournalFacts(folderOf(context), id);
    await using target = await openTarget(options, old.manifest.documents);
    return resultOf(context, await plan(context, target.client, facts));
  }
  return withRestoreFolder(old.folder, options, (held) =>
    writeCopy({ old, options: { ...options, signal: held.signal } }, held),
  );
};

interface CopyContext {
  readonly old: Dump;
  readonly options: CopyOptions;
}

function folderOf({ old, options }: CopyContext): string {
  return copyFolderOf(old.folder, options.baseUrl);
}

function plan({ old, options }: CopyContext, api: Client, facts: JournalFacts): Promise<PlannedCopy> {
  const { documents, dataset, from, retryFailed, memory, signal, progress, baseUrl } = options;
  const isSame = isSameService(old.manifest.service.base_url, baseUrl);
  const choice = { documents, dataset, from, facts, retryFailed, isSameService: isSame };
  return planCopy(api, { dump: old, ...choice, memory, signal, progress });
}

/** Goes on with the journal of an earlier process, or begins one. */
async function writeCopy(context: CopyContext, { checkOwn }: HeldFolder): Promise<CopyResult> {
  const { old, options } = context;
  const { baseUrl, from, now, dataset } = options;
  const { run_id: runId } = old.manifest;
  const journal = await openCopyJournal(folderOf(context), {
    ...{ runId, baseUrl, from, now, checkOwn },
    another: dataset === "new",
  });
  try {
    await using target = await openTarget(options, old.manifest.documents);
    return await writeWith(context, journal, target.client);
  } finally {
    await journal.close();
  }
}

async function writeWith(context: CopyContext, journal: CopyJournal, api: Client): Promise<CopyResult> {
  await reconcileWrites({ api, journal, ...timesOf(context.options) });
  const planned = await plan(context, api, journal.facts);
  const shown = resultOf(context, planned);
  if (!(await context.options.confirm(shown))) return shown;
  for (const id of planned.gone) await journal.forget(id);
  const applied = await write(context, planned.plan, journal, api);
  const proved = await proveCopy({
    ...{ ...context, api },
    folder: folderOf(context),
    plan: planned.plan,
    applied,
    facts: journal.facts,
  });
  return resultOf(context, planned, { applied: applied.moved, ...proved, journal: journal.path });
}

function timesOf({ log, signal, sleep, settle, lockTime, now }: CopyOptions) {
  return { log, signal, sleep, settle, lockTime, now: () => now().getTime() };
}

function write(context: CopyContext, plan: CopyPlan, journal: CopyJournal, api: Client): Promise<AppliedCopy> {
  const { options } = context;
  const { baseUrl, key, keyEnv, env, signal, progress, retryFailed } = options;
  const { concurrency = 4, timeout } = options;
  progress.step = "writing";
  const names = settingNames(targetLabels);
  const connecting = { baseUrl, key, keySource: `the variable ${keyEnv}`, concurrency, env, signal, names };
  return withWriter({ ...connecting, pace: api.pace, timeout: timeout / 1_000 }, (writer) =>
    withRows(context, plan, (readRows) =>
      applyCopy(plan, {
        ...{ api, writer, journal, readRows, concurrency, progress, retryFailed },
        ...timesOf(options),
      }),
    ),
  );
}

/** Lets the rows of the planned documents be read, one document after the other, for as long as `work` takes. */
function withRows<T>(
  { old, options }: CopyContext,
  plan: CopyPlan,
  work: (read: ReadDocumentRows) => Promise<T>,
): Promise<T> {
  return withSpill(":memory:", options, async (connection) => {
    const read = await loadDocumentRows(connection, "old", old, documentsOf(plan), { signal: options.signal });
    let before: Promise<unknown> = Promise.resolve();
    return work((document) => {
      const rows = before.then(() => read(document));
      before = rows.catch(() => {});
      return rows;
    });
  });
}

function documentsOf({ datasets }: CopyPlan): readonly DocumentPlan[] {
  return datasets.flatMap(({ documents }) => documents.filter(({ refused }) => refused === null));
}

type Facts = Pick<CopyResult, "applied" | "differences" | "proof" | "journal">;

const nothingWritten: Facts = { applied: null, differences: null, proof: null, journal: null };

function resultOf({ old, options }: CopyContext, { plan, warnings }: PlannedCopy, facts = nothingWritten): CopyResult {
  const { job, run_id } = old.manifest;
  return {
    status: statusOf({ plan, ...facts }),
    run: { folder: old.folder, job, run_id },
    base_url: options.baseUrl,
    plan,
    counts: countCopy(plan),
    ...facts,
    warnings,
  };
}

interface ProveOptions {
  readonly api: Pick<KnowledgeApi, "documents">;
  readonly old: Dump;
  readonly options: CopyOptions;
  /** The folder of the journal, which takes the dump of the copies. */
  readonly folder: string;
  readonly plan: CopyPlan;
  readonly applied: AppliedCopy;
  readonly facts: JournalFacts;
}

/**
 * Dumps the copies of a move, and compares them with the run: those of documents that came whole, or but for some rows. The datasets must hold nothing else. `differences` is
 * null where there are none. StopError where a copy cannot be read whole: then nothing is proved.
 */
async function proveCopy({
  api,
  old,
  options,
  folder,
  plan,
  applied,
  facts,
}: ProveOptions): Promise<Pick<CopyResult, "differences" | "proof">> {
  const { progress, memory, signal } = options;
  progress.step = "proving";
  const pairs = applied.moved.documents.flatMap((document) => pairOf(document) ?? []);
  if (pairs.length === 0) return { differences: null, proof: null };
  const copies = copiesOfPlan(plan, facts, applied);
  const live = await readLive({ service: options, old, pairs, copies, name: "after", dir: folder, progress });
  const strangers = await findStrangers(api, facts);
  if (!live.dump) return { differences: [...live.gone, ...strangers], proof: null };
  const found = await compareDumps({ old, live: live.dump, pairs: live.pairs, copies, memory, signal });
  return { differences: [...live.gone, ...found, ...strangers], proof: live.dump.folder };
}

function pairOf(document: MovedDocument): DocumentPair | undefined {
  const { dataset_id, document_id, outcome, target_dataset_id, target_id } = document;
  const isThere = outcome === "restored" || outcome === "partial";
  if (!isThere || target_dataset_id === null || target_id === null) return undefined;
  return { old: { dataset_id, document_id }, live: { dataset_id: target_dataset_id, document_id: target_id } };
}

/**
 * Finds documents, in the datasets that a move made, that the journal does not know: somebody else's, or a copy whose request arrived when
 * there was no longer a wait for it. Datasets that the owner named may have others.
 */
async function findStrangers(
  api: Pick<KnowledgeApi, "documents">,
  { datasets, documents }: Pick<JournalFacts, "datasets" | "documents">,
): Promise<readonly CopyDifference[]> {
  const made = new Set([...documents.values()].map(({ target_id }) => target_id));
  const differences: CopyDifference[] = [];
  for (const [key, { id, existed }] of datasets) {
    if (existed) continue;
    for (const row of await listDocuments(api, id)) {
      if (made.has(row.id)) continue;
      const reason = `it has a document that this restore did not make: ${nameAndId(String(row.name ?? ""), row.id)}`;
      differences.push({ level: "dataset", document_id: null, id: datasetIdOf(key), position: null, reason });
    }
  }
  return differences;
}

/** The documents of a dataset; none where the service does not have it any more, which every copy tells by itself. */
async function listDocuments(api: Pick<KnowledgeApi, "documents">, datasetId: string): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  try {
    for await (const { rows } of readList((page) => api.documents(datasetId, page), new Prefetch(1))) all.push(...rows);
  } catch (error) {
    if (!(error instanceof SkipError && error.status === 404)) throw error;
  }
  return all;
}
