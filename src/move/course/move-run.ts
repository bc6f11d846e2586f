import type { Client } from "../../client/open-client.js";
import { withSpill } from "../../duckdb/with-spill.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { withWriter } from "../../restore/apply/with-writer.js";
import { loadDocumentRows, type ReadDocumentRows } from "../../restore/load-document-rows.js";
import { withTarget } from "../../restore/target/dump-target.js";
import { type HeldFolder, refuseLinksBeside, withRestoreFolder } from "../../restore/target/restore-folder.js";
import { targetLabels } from "../../restore/target/target-job.js";
import { settingNames } from "../../run/setting/with-client.js";
import { applyMove } from "../apply/apply-move.js";
import { settleWrites } from "../apply/settle-writes.js";
import { countMove } from "../count-move.js";
import type { MoveJournal } from "../journal/move-journal.js";
import { openMoveJournal, readJournalFacts } from "../journal/open-move-journal.js";
import { type JournalFacts, noFacts } from "../journal-facts.js";
import { isSameService, moveFolderOf, plainBaseUrl } from "../move-folder.js";
import type { Move, MoveOptions } from "../move-options.js";
import type { DocumentPlan, MovePlan } from "../move-plan.js";
import { type MoveResult, statusOf } from "../move-result.js";
import type { AppliedMove } from "../moved.js";
import { type PlannedMove, planMove } from "../plan/plan-move.js";
import { proveMove } from "./prove-move.js";

/**
 * Brings a dump into another service: plans it and, with `apply`, writes it and proves it. Rejects with UsageError where it is refused as a
 * whole, BusyError where another restore of the run is at work, StopError where the service or the disk ends it, and with the
 * reason of `options.signal`.
 */
export const moveRun: Move = async (given) => {
  const options = { ...given, baseUrl: plainBaseUrl(given.baseUrl) };
  options.tally.step = "reading the run";
  const old = await openDump(options.folder, "nothing was restored");
  if (old.manifest.documents.length === 0)
    throw new UsageError(`${old.folder} has no documents: nothing to restore`, []);
  const course = { old, options };
  if (!options.apply) {
    await refuseLinksBeside(old.folder);
    const id = { runId: old.manifest.run_id, baseUrl: options.baseUrl };
    const facts = options.dataset === "new" ? noFacts : await readJournalFacts(folderOf(course), id);
    return withTarget(options, old.manifest.documents, async (api) => resultOf(course, await plan(course, api, facts)));
  }
  return withRestoreFolder(old.folder, options, (held) =>
    writeMove({ old, options: { ...options, signal: held.signal } }, held),
  );
};

interface Course {
  readonly old: Dump;
  readonly options: MoveOptions;
}

function folderOf({ old, options }: Course): string {
  return moveFolderOf(old.folder, options.baseUrl);
}

function plan({ old, options }: Course, api: Client, facts: JournalFacts): Promise<PlannedMove> {
  const { documents, dataset, from, retryFailed, memory, signal, tally, baseUrl } = options;
  const isSame = isSameService(old.manifest.service.base_url, baseUrl);
  const choice = { documents, dataset, from, facts, retryFailed, isSameService: isSame };
  return planMove(api, { dump: old, ...choice, memory, signal, tally });
}

/** Goes on with the journal of an earlier process, or begins one. */
async function writeMove(course: Course, { checkOwn }: HeldFolder): Promise<MoveResult> {
  const { old, options } = course;
  const { baseUrl, from, now, dataset } = options;
  const { run_id: runId } = old.manifest;
  const journal = await openMoveJournal(folderOf(course), {
    ...{ runId, baseUrl, from, now, checkOwn },
    another: dataset === "new",
  });
  try {
    return await withTarget(options, old.manifest.documents, (api) => writeWith(course, journal, api));
  } finally {
    await journal.close();
  }
}

async function writeWith(course: Course, journal: MoveJournal, api: Client): Promise<MoveResult> {
  await settleWrites({ api, journal, ...timesOf(course.options) });
  const planned = await plan(course, api, journal.facts);
  const shown = resultOf(course, planned);
  if (!(await course.options.confirm(shown))) return shown;
  for (const id of planned.gone) await journal.forget(id);
  const applied = await write(course, planned.plan, journal, api);
  const proved = await proveMove({
    ...{ ...course, api },
    folder: folderOf(course),
    plan: planned.plan,
    applied,
    facts: journal.facts,
  });
  return resultOf(course, planned, { applied: applied.moved, ...proved, journal: journal.path });
}

function timesOf({ log, signal, sleep, settle, lockTime, now }: MoveOptions) {
  return { log, signal, sleep, settle, lockTime, now: () => now().getTime() };
}

function write(course: Course, plan: MovePlan, journal: MoveJournal, api: Client): Promise<AppliedMove> {
  const { options } = course;
  const { baseUrl, key, keyEnv, caFile, env, signal, tally, retryFailed } = options;
  const { concurrency = 4, timeout } = options;
  tally.step = "writing";
  const names = settingNames(targetLabels);
  const connecting = { baseUrl, key, keyPlace: `the variable ${keyEnv}`, concurrency, caFile, env, signal, names };
  return withWriter({ ...connecting, pace: api.pace, timeout: timeout / 1_000 }, (writer) =>
    withRows(course, plan, (readRows) =>
      applyMove(plan, {
        ...{ api, writer, journal, readRows, concurrency, tally, retryFailed },
        ...timesOf(options),
      }),
    ),
  );
}

/** Lets the rows of the planned documents be read, one document after the other, for as long as `work` takes. */
function withRows<T>(
  { old, options }: Course,
  plan: MovePlan,
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

function documentsOf({ datasets }: MovePlan): readonly DocumentPlan[] {
  return datasets.flatMap(({ documents }) => documents.filter(({ refused }) => refused === null));
}

type Facts = Pick<MoveResult, "applied" | "differences" | "proof" | "journal">;

const nothingWritten: Facts = { applied: null, differences: null, proof: null, journal: null };

function resultOf({ old, options }: Course, { plan, warnings }: PlannedMove, facts = nothingWritten): MoveResult {
  const { job, run_id } = old.manifest;
  return {
    status: statusOf({ plan, ...facts }),
    run: { folder: old.folder, job, run_id },
    base_url: options.baseUrl,
    plan,
    counts: countMove(plan),
    ...facts,
    warnings,
  };
}
