import { LookAhead } from "../crawl/look-ahead.js";
import { StopError } from "../errors.js";
import type { Job } from "../job/job.js";
import { documentsOf } from "../run/discover/discovery.js";
import { type RunOptions, withDefaults } from "../run/setting/run-options.js";
import { withClient } from "../run/setting/with-client.js";
import { AnswerLog } from "./answer-log.js";
import { askOpening, type Opening } from "./ask-opening.js";
import { Budget } from "./budget.js";
import { askDatasetList } from "./dataset-list.js";
import { diskSpace } from "./disk-space.js";
import type { DocumentSurvey } from "./document-survey.js";
import { findEarlierRun } from "./earlier-run.js";
import type { Evidence } from "./evidence.js";
import { askLongest, type Inquiry, newInquiry } from "./inquiry.js";
import type { JobPlan } from "./job-plan.js";
import { makePlan } from "./make-plan.js";
import { probeService } from "./probe-service.js";
import { RowSizes } from "./row-sizes.js";
import { settleChildren } from "./settle-children.js";
import { surveyDocuments } from "./survey-documents.js";
import { sumOfPositions } from "./ties.js";
import type { Written } from "./written.js";

export interface PlanOptions extends Pick<RunOptions, "env" | "signal" | "tally" | "log" | "now"> {
  /**
   * Requests that may be spent on exact numbers, beyond one for each document and its first child list; 1,000 by default,
   * infinite for as many as it takes.
   */
  readonly budget?: number | undefined;
}

/** Requests that a plan may spend on exact numbers where nobody says otherwise: some seconds. */
export const usualBudget = 1_000;

/** Requests under way or waiting, for every one in flight. */
const aheadPerSlot = 4;

/**
 * Asks what a job would read, and forecasts requests, time, bytes and disk space of a run; probes the quirks of the service.
 * Writes nothing. Rejects with StopError when nothing can be asked, UsageError without a key, or the reason of the signal.
 */
export async function planJob(job: Job, options: PlanOptions = {}): Promise<JobPlan> {
  const setting = withDefaults(options);
  const { tally, now } = setting;
  const answers = new AnswerLog(now);
  const start = performance.now();
  const work = async (client: Parameters<Parameters<typeof withClient>[2]>[0], baseUrl: string): Promise<JobPlan> => {
    const lookAhead = new LookAhead(job.service.concurrency * aheadPerSlot);
    const sizes = new RowSizes(job.output.keepSignatures);
    const inquiry = newInquiry({ api: client, lookAhead, sizes });

    tally.step = "asking what there is";
    const opening = await askOpening(client, job, lookAhead, { tally: tally.requests, now });
    tally.step = "asking every document";
    const surveys = await surveyDocuments(inquiry, refsOf(opening), tally);
    requireSomething(surveys);
    tally.step = "probing the service";
    const probe = await probeService(inquiry, surveys);
    tally.step = "asking for children";
    const budget = new Budget(job.childChunks === "none" ? 0 : (options.budget ?? usualBudget));
    await settleChildren(inquiry, surveys, budget);
    await askLongest(inquiry, surveys);
    const ties = await askTies(inquiry, surveys);
    tally.step = "asking what the key may do";
    const datasetList = await askDatasetList(client);

    const evidence = {
      ...inquiry,
      answers,
      probe,
      surveys,
      datasetList,
      ties,
      withoutFields: opening.withoutFields,
      throttled: tally.requests.throttled,
    };
    const seconds = (performance.now() - start) / 1000;
    const earlier = await findEarlierRun(job, now);
    const space = (written: Written) => diskSpace(job, written);
    return makePlan({ job, baseUrl, opening, evidence, sizes, earlier, space, requests: tally.requests, seconds });
  };
  return withClient(job, setting, work, { onAnswer: answers.add });
}

/** Asks again for the rows in which most positions collide. */
async function askTies(
  { chunkTies, childTies }: Inquiry,
  surveys: readonly DocumentSurvey[],
): Promise<Evidence["ties"]> {
  const { rows, collisions } = sumOfPositions(surveys.map(({ positions }) => positions));
  const { rows: childRows, collisions: childCollisions } = childTies;
  return {
    chunks: { rows, collisions, hold: await chunkTies.doesOrderHold() },
    children: { rows: childRows, collisions: childCollisions, hold: await childTies.doesOrderHold() },
  };
}

function refsOf({ discovery }: Opening) {
  return documentsOf(discovery).map(({ ref }) => ref);
}

/** Where no document can be read there is nothing to plan, and the reason is that of the first. */
function requireSomething(surveys: readonly DocumentSurvey[]): void {
  const [first] = surveys;
  if (!first || surveys.some(({ total }) => total !== null)) return;
  const which = surveys.length === 1 ? "the document" : `none of the ${surveys.length} documents`;
  const what = surveys.length === 1 ? "could not be asked" : "could be asked; the first";
  throw new StopError(`${which} ${what}: ${first.error}`);
}
