import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { loadDocumentRows } from "../../compare/load-document-rows.js";
import { Prefetch } from "../../crawl/prefetch.js";
import { flawText, readWholeList } from "../../crawl/read-whole-list.js";
import { withSpill } from "../../duckdb/open-duckdb.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { nameAndId } from "../../words.js";
import { readJournalState } from "../journal.js";
import { type JournalFacts, noFacts } from "../journal-facts.js";
import { reconcile } from "../reconcile.js";
import { openSession, refuseLinksBeside, type Session } from "../session.js";
import { isSameService, openTarget } from "../target.js";
import { ifThere } from "../target-rows.js";
import { applyCopy } from "./apply-copy.js";
import { compareLive, copiesOf, copyPair, differenceOf } from "./compare-live.js";
import { type CopyPlan, countCopy, datasetIdOf, documentsIn } from "./copy-plan.js";
import {
  type AppliedCopy,
  type CopyDifference,
  type CopyOptions,
  type CopyResult,
  type CopyRun,
  copyFolderOf,
  plainBaseUrl,
  statusOf,
} from "./copy-result.js";
import type { ApplyOptions } from "./document-work.js";
import { type PlannedCopy, planCopy } from "./plan-copy.js";
import { chunkReader, keepComing } from "./read-dump.js";

/**
 * Copies a dump to another service: plans it and, with `apply`, writes and proves it. Rejects with UsageError if it is refused as a
 * whole, BusyError if another restore of the run is active, StopError if the service or the disk ends it, and with the
 * reason of `options.signal`.
 */
export const copyRun: CopyRun = async (given) => {
  const options = { ...given, baseUrl: plainBaseUrl(given.baseUrl) };
  const { baseUrl, dataset, apply } = options;
  options.progress.step = "reading the run";
  const old = await openDump(options.folder, "nothing was restored");
  if (old.manifest.documents.length === 0)
    throw new UsageError(`${old.folder} has no documents: nothing to restore`, []);
  const folder = copyFolderOf(old.folder, baseUrl);
  if (apply) {
    await using session = await openSession(old, folder, { ...options, another: dataset === "new" });
    return await applyToTarget({ old, options: { ...options, signal: session.signal } }, session);
  }
  await refuseLinksBeside(old.folder);
  const id = { runId: old.manifest.run_id, baseUrl };
  const facts = dataset === "new" ? noFacts : (await readJournalState(folder, id)).facts;
  await using target = await openTarget(options, old.manifest.documents);
  return resultOf({ old, options }, await planCopy(target.client, { ...options, dump: old, facts }));
};

interface CopyContext {
  readonly old: Dump;
  readonly options: CopyOptions;
}

/** Continues the journal of an earlier process, or starts one. */
async function applyToTarget(context: CopyContext, session: Session): Promise<CopyResult> {
  const { journal, api, writing } = session;
  const { old, options } = context;
  const { progress, confirm } = options;
  journal.beginWith(null);
  await reconcile(writing);
  const planned = await planCopy(api, { ...options, dump: old, facts: journal.facts });
  const shown = resultOf(context, planned);
  if (!(await confirm(shown)).go) return shown;
  progress.step = "writing";
  const applied = await writeCopy(context, planned.plan, { ...writing, progress });
  const proved = await proveCopy(context, session, applied);
  return resultOf(context, planned, { applied: applied.copied, ...proved, journal: journal.path });
}

function writeCopy(
  { old, options }: CopyContext,
  plan: CopyPlan,
  writing: Omit<ApplyOptions, "readChunks">,
): Promise<AppliedCopy> {
  return withSpill(":memory:", options, async (connection) => {
    const { signal } = options;
    const chosen = documentsIn(plan).filter(({ refused }) => refused === null);
    await loadDocumentRows(connection, "old", old, chosen, { signal });
    await keepComing(connection, chosen);
    return applyCopy(plan, { ...writing, readChunks: await chunkReader(connection, signal) });
  });
}

const nothingWritten = { applied: null, differences: null, proof: null, journal: null };

function resultOf(
  { old, options }: CopyContext,
  { plan, warnings }: PlannedCopy,
  facts: Pick<CopyResult, keyof typeof nothingWritten> = nothingWritten,
): CopyResult {
  const { job, run_id } = old.manifest;
  const run = { folder: old.folder, job, run_id };
  const status = statusOf({ plan, ...facts });
  return { status, run, base_url: options.baseUrl, plan, counts: countCopy(plan), ...facts, warnings };
}

/**
 * Dumps the copied documents, including those with failed rows, and compares them with the run. The datasets must hold nothing
 * else. `differences` is null if there are no copies. Throws StopError if a copy cannot be read completely: then nothing is proved.
 */
async function proveCopy(
  { old, options }: CopyContext,
  { api, folder, journal }: Session,
  applied: AppliedCopy,
): Promise<Pick<CopyResult, "differences" | "proof">> {
  options.progress.step = "proving";
  const made = applied.copied.documents.filter(({ outcome }) => outcome !== "failed");
  const pairs = made.flatMap((document) => copyPair(document, journal.facts) ?? []);
  if (pairs.length === 0) return { differences: null, proof: null };
  const isSame = isSameService(old.manifest.service.base_url, options.baseUrl);
  const copies = copiesOf(journal.facts, isSame, applied);
  const place = { api, service: options, name: "after", dir: folder, progress: options.progress } as const;
  const { dump, differences } = await compareLive({ ...place, old, pairs, copies });
  return { differences: [...differences, ...(await findStrangers(api, journal.facts))], proof: dump?.folder ?? null };
}

/**
 * Finds documents in the copy's datasets that the journal does not know: other people's, or a copy whose request arrived after
 * kbdump stopped waiting for it. Datasets that the owner named may have others.
 */
async function findStrangers(
  api: Pick<KnowledgeApi, "documents">,
  { datasets, documents }: Pick<JournalFacts, "datasets" | "documents">,
): Promise<readonly CopyDifference[]> {
  const made = new Set([...documents.values()].map(({ target_id }) => target_id));
  const differences: CopyDifference[] = [];
  for (const [key, { id, existed }] of datasets) {
    if (existed) continue;
    const read = (page: number, limit: number) => api.documents(id, page, limit);
    const list = await ifThere(() => readWholeList("documents", read, new Prefetch(1)));
    if (!list) continue; // the comparison reports each copy anyway
    const note = (reason: string) => differences.push(differenceOf("dataset", datasetIdOf(key), reason));
    for (const row of list.rows.filter((each) => !made.has(each.id)))
      note(`it has a document that this restore did not make: ${nameAndId(String(row.name ?? ""), row.id)}`);
    if (list.problems.length > 0) note(`its list of documents ${flawText(list)}`);
  }
  return differences;
}
