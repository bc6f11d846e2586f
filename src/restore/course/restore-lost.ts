import { join } from "node:path";
import type { KnowledgeApi } from "../../client/knowledge-api.js";
import type { Client } from "../../client/open-client.js";
import { databaseOf } from "../../dump/job-database.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/document-row.js";
import { settingNames } from "../../run/setting/with-client.js";
import type { Applied } from "../applied.js";
import { applyPlan } from "../apply/apply-plan.js";
import type { Journal } from "../apply/journal.js";
import { openJournal } from "../apply/open-journal.js";
import { settleJournal } from "../apply/settle.js";
import { type Writer, type WriterOptions, withWriter } from "../apply/with-writer.js";
import { findSigns, type Signs } from "../plan/find-signs.js";
import { planLost } from "../plan/plan-lost.js";
import type { RestoreLost } from "../restore-options.js";
import { countPlan, type RestorePlan } from "../restore-plan.js";
import { type RestoreResult, statusOf } from "../restore-result.js";
import { readRefusals } from "../target/document-state.js";
import { withTarget } from "../target/dump-target.js";
import { withRestoreFolder, withTemporaryFolder } from "../target/restore-folder.js";
import { targetLabels } from "../target/target-job.js";
import type { Refusals } from "../target-service.js";
import { addressOf } from "./address.js";
import { type Course, dumpDocuments } from "./course.js";
import { proveWritten } from "./prove-written.js";

/**
 * Brings back what a re-index took from the documents of a run: plans it and, with `apply`, writes it and proves it. Rejects with
 * UsageError where it is refused as a whole, BusyError where another restore of the run is at work, StopError where the service or
 * the disk ends it, and with the reason of `options.signal`.
 */
export const restoreLost: RestoreLost = async (options) => {
  const old = await openDump(options.folder, "nothing was restored");
  const baseUrl = addressOf(old.manifest.service.base_url, options);
  const course = { old, baseUrl, database: await databaseOf(old), options };
  if (!options.apply) return planOnly(course);
  return withRestoreFolder(old.folder, options, ({ path, signal, checkOwn }) =>
    applyLost({ ...course, options: { ...options, signal } }, path, checkOwn),
  );
};

/** The documents of the target as they stand. */
interface Target {
  /** Undefined where no document may be written. */
  readonly dump: Dump | undefined;
  readonly refusals: Refusals;
}

async function planOnly(course: Course): Promise<RestoreResult> {
  const signs = await signsOf(course);
  const { against } = course.options;
  if (against !== undefined) {
    const dump = await openDump(against, "nothing was compared");
    return planned(course, signs, { dump, refusals: new Map() });
  }
  if (signs.documents.length === 0) return planned(course, signs, nothingRead);
  return withTemporaryFolder((folder) =>
    withService(course, async (api) => planned(course, signs, await readTarget(course, api, signs, folder))),
  );
}

/** Opens the service for reading, for as long as `work` takes. */
function withService<T>({ old, baseUrl, options }: Course, work: (client: Client) => Promise<T>): Promise<T> {
  return withTarget({ ...options, baseUrl }, old.manifest.documents, work);
}

const nothingRead: Target = { dump: undefined, refusals: new Map() };

function signsOf({ old, database, options }: Course): Promise<Signs> {
  options.tally.step = "reading the run";
  return findSigns(old, { ...options, database, tally: undefined });
}

async function readTarget(course: Course, api: KnowledgeApi, signs: Signs, dir: string): Promise<Target> {
  course.options.tally.step = "reading the documents as they stand";
  const fit = signs.documents.filter(({ refused }) => refused === null);
  const refusals = await readRefusals(api, fit);
  const documents = fit.filter((document) => refusals.get(documentKey(document))?.isReadable !== false);
  const dump = documents.length > 0 ? await dumpDocuments(course, { name: "before", dir, documents }) : undefined;
  return { dump, refusals };
}

/** The plan, and nothing written. */
async function planned(
  course: Course,
  { documents, warnings }: Signs,
  { dump, refusals }: Target,
  chosen: readonly string[] = [],
): Promise<RestoreResult> {
  const { old, baseUrl, database, options } = course;
  const { memory, signal, addDisabled } = options;
  options.tally.step = "planning";
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
async function applyLost(course: Course, folder: string, checkOwn: () => Promise<void>): Promise<RestoreResult> {
  const { old, baseUrl, options } = course;
  const journal = await openJournal(folder, { runId: old.manifest.run_id, baseUrl, now: options.now, checkOwn });
  try {
    return await withService(course, (api) =>
      withWriter(writerOptions(course, api.pace), (writer) => applyWith({ course, folder, journal, api, writer })),
    );
  } finally {
    await journal.close();
  }
}

interface Tools {
  readonly course: Course;
  readonly folder: string;
  readonly journal: Journal;
  readonly api: KnowledgeApi;
  readonly writer: Writer;
}

async function applyWith(tools: Tools): Promise<RestoreResult> {
  const { course, folder, journal, api } = tools;
  if (journal.undo !== null) await settleJournal(applyOptions(tools));
  const signs = await signsOf(course);
  const target = await readTarget(course, api, signs, folder);
  const shown = await planned(course, signs, target);
  const { go, chosen } = await course.options.confirm(shown);
  if (!go) return shown;
  const final = chosen.length > 0 ? await planned(course, signs, target, chosen) : shown;
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
  tools.course.options.tally.step = "writing";
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

function applyOptions({ course, journal, api, writer }: Tools) {
  const { signal, log, tally, sleep, now, settle, lockTime, concurrency } = course.options;
  return {
    ...{ api, writer, journal, signal, log, tally, sleep },
    ...(concurrency === undefined ? {} : { concurrency }),
    settle: settle / 1_000,
    lockTime: lockTime / 1_000,
    now: () => now().getTime(),
  };
}

/** The writer keeps to the pace of the client: both together send no more requests a second than `maxRps`. */
function writerOptions({ baseUrl, options }: Course, pace: WriterOptions["pace"]): WriterOptions {
  const { key = "", keyEnv, caFile, env, signal, timeout, concurrency = 4 } = options;
  return {
    ...{ baseUrl, key, keyPlace: `the variable ${keyEnv}`, concurrency, caFile, env, signal },
    ...(pace ? { pace } : {}),
    names: settingNames(targetLabels),
    timeout: timeout / 1_000,
  };
}
