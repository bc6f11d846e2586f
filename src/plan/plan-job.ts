import type { Client } from "../client/open-client.js";
import { LookAhead } from "../crawl/look-ahead.js";
import { StopError } from "../errors.js";
import type { Job } from "../job/job.js";
import { documentsOf } from "../run/discover/discovery.js";
import { writeGivenList } from "../run/discover/given-list.js";
import { type RunOptions, withDefaults } from "../run/setting/run-options.js";
import { withClient } from "../run/setting/with-client.js";
import { AnswerLog } from "./answer-log.js";
import { askOpening } from "./ask-opening.js";
import { diskSpace } from "./disk-space.js";
import type { DocumentSurvey } from "./document-survey.js";
import { findEarlierRun } from "./earlier-run.js";
import { askLongest, newInquiry } from "./inquiry.js";
import type { JobPlan } from "./job-plan.js";
import { makePlan } from "./make-plan.js";
import { probePaging } from "./probe-paging.js";
import { RowSizes } from "./row-sizes.js";
import { settleChildren } from "./settle-children.js";
import { surveyDocuments } from "./survey-documents.js";

export interface PlanOptions extends Pick<RunOptions, "env" | "signal" | "tally" | "log" | "now"> {
  /**
   * Requests that may be spent on exact numbers, beyond one for each document and its first child list; 1,000 by default,
   * infinite for as many as it takes.
   */
  readonly budget?: number | undefined;
  /** The file to write the list of documents to, for `run --documents-from`; undefined: none is written. */
  readonly documentsOut?: string | undefined;
}

/** The default budget: some seconds. */
const usualBudget = 1_000;

/** Requests under way or waiting, per request in flight. */
const aheadPerSlot = 4;

/**
 * Asks what a job would read, and forecasts requests, bytes and disk space of a run; measures the latency of its requests,
 * and probes the quirks of the service. Writes nothing but the list of documents, if it was asked for. Rejects with StopError
 * when nothing can be asked or that list would not be whole, UsageError without a key, or the reason of the signal.
 */
export async function planJob(job: Job, options: PlanOptions = {}): Promise<JobPlan> {
  const setting = withDefaults(options);
  const { tally, now } = setting;
  const answers = new AnswerLog();
  const start = performance.now();
  const work = async (client: Client, baseUrl: string): Promise<JobPlan> => {
    const lookAhead = new LookAhead(job.service.concurrency * aheadPerSlot);
    const sizes = new RowSizes(job.output.keepSignatures);
    const inquiry = newInquiry({ api: client, lookAhead, sizes });

    tally.step = "listing documents";
    const listedAt = now();
    const opening = await askOpening(client, job, lookAhead, { tally: tally.requests, now });
    const { documentsOut } = options;
    if (documentsOut !== undefined) await writeGivenList(documentsOut, opening.discovery, { job, listedAt });
    tally.step = "sampling every document";
    const refs = documentsOf(opening.discovery).map(({ ref }) => ref);
    const surveys = await surveyDocuments(inquiry, refs, tally);
    requireSomething(surveys);
    tally.step = "probing the service";
    const pagesRepeat = await probePaging(inquiry, surveys);
    tally.step = "reading child lists";
    await settleChildren(inquiry, surveys, job.childChunks === "none" ? 0 : (options.budget ?? usualBudget));
    await askLongest(inquiry, surveys);
    await inquiry.chunkTies.askAgain();
    await inquiry.childTies.askAgain();

    const { throttled } = tally.requests;
    const evidence = { ...inquiry, answers, surveys, pagesRepeat, withoutFields: opening.withoutFields, throttled };
    const [earlier, disk] = [await findEarlierRun(job, now), await diskSpace(job, surveys)];
    const seconds = (performance.now() - start) / 1000;
    const plan = makePlan({ job, baseUrl, opening, evidence, sizes, earlier, disk, requests: tally.requests, seconds });
    return { ...plan, documents_out: documentsOut ?? null };
  };
  return withClient(job, setting, work, { onAnswer: answers.add });
}

/** Throws if no document can be read, with the error of the first. */
function requireSomething(surveys: readonly DocumentSurvey[]): void {
  const [first] = surveys;
  if (!first || surveys.some(({ total }) => total !== null)) return;
  const which = surveys.length === 1 ? "the document" : `none of the ${surveys.length} documents`;
  const what = surveys.length === 1 ? "cannot be read" : "can be read; the first";
  throw new StopError(`${which} ${what}: ${first.error}`);
}
