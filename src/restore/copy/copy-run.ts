import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { loadDocumentRows } from "../../compare/load-document-rows.js";
import { type DumpDifference, differenceOf } from "../../compare/proof/prove.js";
import { Prefetch } from "../../crawl/prefetch.js";
import { flawText, readWholeList } from "../../crawl/read-whole-list.js";
import { withSpill } from "../../duckdb/open-duckdb.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { readJournalState } from "../../journal/journal.js";
import { type JournalFacts, noFacts } from "../../journal/journal-state.js";
import { nameAndId } from "../../words.js";
import { reconcile } from "../reconcile.js";
import { openSession, refuseLinksBeside, type Session } from "../session.js";
import { isSameService, openTarget } from "../target.js";
import { ifThere } from "../target-rows.js";
import { applyCopy } from "./apply-copy.js";
import { compareLive, copiesOf, copyPair } from "./compare-live.js";
import { type CopyPlan, countCopy, datasetIdOf, documentsIn } from "./copy-plan.js";
import {
  type AppliedCopy,
  type CopyOptions,
  type CopyResult,
  type CopyRun,
  copyFolderOf,
  plainBaseUrl,
  statusOf,
} from "./copy-result.js";
import { type PlannedCopy, planCopy } from "./plan-copy.js";
import { chunkReader, keepComing } from "./read-dump.js";

/**
 * Copies a dump to another service: plans it and, with `apply`, writes and proves it. Rejects with UsageError if it is refused as a
 * whole, BusyError if another restore of the run is active, StopError if the service or the disk ends it, and with the
 * reason of `options.signal`.
 */
export const copyRun: CopyRun = async (options) => {
  options.progress.step = "reading the run";
  const dump = await openDump(options.folder, "nothing was restored");
  const { documents, run_id } = dump.manifest;
  if (documents.length === 0) throw new UsageError(`${dump.folder} has no documents: nothing to restore`, []);
  const copy = { ...options, baseUrl: plainBaseUrl(options.baseUrl), dump };
  const { baseUrl, dataset, apply } = copy;
  const folder = copyFolderOf(dump.folder, baseUrl);
  if (apply) {
    await using session = await openSession(dump, folder, { ...copy, another: dataset === "new" });
    return await applyToTarget({ ...copy, signal: session.signal }, session);
  }
  await refuseLinksBeside(dump.folder);
  const facts = dataset === "new" ? noFacts : (await readJournalState(folder, { runId: run_id, baseUrl })).facts;
  await using target = await openTarget(copy, documents);
  return resultOf(copy, await planCopy(target.client, { ...copy, facts }));
};

interface Copy extends CopyOptions {
  readonly dump: Dump;
}

/** Continues the copy of an earlier process, or begins one. */
async function applyToTarget(copy: Copy, session: Session): Promise<CopyResult> {
  const { journal, api, progress } = session;
  journal.beginWith(null);
  await reconcile(session);
  const planned = await planCopy(api, { ...copy, facts: journal.facts });
  const shown = resultOf(copy, planned);
  if (!(await copy.confirm(shown)).go) return shown;
  progress.step = "writing";
  const applied = await writeCopy(copy, planned.plan, session);
  const proved = await proveCopy(copy, session, applied);
  return resultOf(copy, planned, { applied: applied.copied, ...proved, journal: journal.path });
}

function writeCopy(copy: Copy, plan: CopyPlan, session: Session): Promise<AppliedCopy> {
  return withSpill(":memory:", copy, async (connection) => {
    const { dump, signal } = copy;
    const chosen = documentsIn(plan).filter(({ refused }) => refused === null);
    await loadDocumentRows(connection, "old", dump, chosen, { signal });
    await keepComing(connection, chosen);
    return applyCopy(plan, { ...session, readChunks: await chunkReader(connection, signal) });
  });
}

const nothingWritten = { applied: null, differences: null, proof: null, journal: null };

function resultOf(
  { dump, baseUrl }: Copy,
  { plan, warnings }: PlannedCopy,
  facts: Pick<CopyResult, keyof typeof nothingWritten> = nothingWritten,
): CopyResult {
  const { job, run_id } = dump.manifest;
  const run = { folder: dump.folder, job, run_id };
  const status = statusOf({ plan, ...facts });
  return { status, run, base_url: baseUrl, plan, counts: countCopy(plan), ...facts, warnings };
}

/**
 * Dumps the copied documents, including those with failed rows, and compares them with the run. The datasets must hold nothing
 * else. `differences` is null if there are no copies. Throws StopError if a copy cannot be read completely: then nothing is proved.
 */
async function proveCopy(
  copy: Copy,
  { api, folder, journal }: Session,
  applied: AppliedCopy,
): Promise<Pick<CopyResult, "differences" | "proof">> {
  const { dump: old, progress } = copy;
  progress.step = "proving";
  const made = applied.copied.documents.filter(({ outcome }) => outcome !== "failed");
  const pairs = made.flatMap((document) => copyPair(document, journal.facts) ?? []);
  if (pairs.length === 0) return { differences: null, proof: null };
  const isSame = isSameService(old.manifest.service.base_url, copy.baseUrl);
  const copies = copiesOf(journal.facts, isSame, applied);
  const place = { api, service: copy, name: "after", dir: folder, progress } as const;
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
): Promise<readonly DumpDifference[]> {
  const made = new Set([...documents.values()].map(({ target_id }) => target_id));
  const differences: DumpDifference[] = [];
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
