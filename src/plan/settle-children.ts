import type { Listed } from "../client/check-list.js";
import { noEvidence } from "../crawl/child-evidence.js";
import { withPage } from "../crawl/evidence-of-pages.js";
import { mapAhead } from "../crawl/look-ahead.js";
import { readList } from "../crawl/read-list.js";
import type { Budget } from "./budget.js";
import { pagesOf } from "./child-counts.js";
import { type DocumentSurvey, embeddedIn } from "./document-survey.js";
import { askChildren, type Inquiry, lookForChildTies } from "./inquiry.js";
import { lookForTies } from "./probe-service.js";
import { sampleCost, sampleDocument } from "./sample-document.js";
import { sampleChunk } from "./survey-documents.js";
import { PositionCount } from "./ties.js";

/** The share of a page that the longest list of a sample may fill before others are thought to take more than one. */
const harmless = 0.25;

/** The share of the budget that goes to pages of chunks without a suspicion: they are large. */
const pageShare = 0.2;

/**
 * Finds out how many children the chunks have, as far as the budget goes: from the pages of documents whose chunks carry
 * their children, which tell a hundred lists each; from the lists of a few chunks of every other document; and, where those
 * are so long that others may take more than one page, from all lists. Without a bound, from all lists in any case.
 */
export async function settleChildren(
  inquiry: Inquiry,
  surveys: readonly DocumentSurvey[],
  budget: Budget,
): Promise<void> {
  const readAll = (survey: DocumentSurvey) =>
    readDocument(inquiry, survey, (chunks) => askAll(inquiry, survey, chunks));
  if (!budget.isBounded) return forEach(inquiry, surveys.filter(isOpen), readAll);

  const pagesOnly = (survey: DocumentSurvey) => pagesIn(inquiry, survey) + 1;
  const carrying = affordable(surveys, budget.part(pageShare), mayCarry, pagesOnly);
  await forEach(inquiry, carrying, (survey) => readDocument(inquiry, survey, async () => {}));
  const others = (survey: DocumentSurvey) => !carrying.includes(survey) || !mayCarry(survey);
  const drawn = affordable(surveys, budget, others, sampleCost);
  await forEach(inquiry, drawn, (survey) => sampleDocument(inquiry, survey));
  const isSuspect = ({ longest }: DocumentSurvey) => (longest?.children ?? 0) > harmless * inquiry.childPages.rows;
  const suspects = affordable(
    surveys,
    budget,
    (survey) => others(survey) && isSuspect(survey),
    (survey) => (mayCarry(survey) ? pagesOnly(survey) : pagesIn(inquiry, survey) + survey.unknown),
  );
  await forEach(inquiry, suspects, (survey) =>
    mayCarry(survey) ? readDocument(inquiry, survey, async () => {}) : readAll(survey),
  );
}

/** The documents, largest first, that can be asked at this cost; it is taken from the budget. */
function affordable(
  surveys: readonly DocumentSurvey[],
  budget: Budget,
  wanted: (survey: DocumentSurvey) => boolean,
  cost: (survey: DocumentSurvey) => number,
): readonly DocumentSurvey[] {
  const bySize = [...surveys].sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
  return bySize.filter((survey) => isOpen(survey) && wanted(survey) && budget.take(cost(survey)));
}

function isOpen({ error, unknown }: DocumentSurvey): boolean {
  return error === null && unknown > 0;
}

/** Whether the pages of chunks may tell the children: nothing speaks against it, and it is the form that does so. */
function mayCarry({ embedding, docForm }: DocumentSurvey): boolean {
  return embedding === "agrees" || (embedding === "unknown" && docForm === "hierarchical_model");
}

function pagesIn({ chunkPages }: Inquiry, { total }: DocumentSurvey): number {
  return pagesOf(total ?? 0, chunkPages.rows);
}

function forEach<T>({ lookAhead }: Inquiry, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  return drained(mapAhead(items, lookAhead, work));
}

async function drained(work: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of work);
}

const askAll = (inquiry: Inquiry, survey: DocumentSurvey, chunks: readonly Listed[]): Promise<void> =>
  forEach(inquiry, chunks, (chunk) => askChildren(inquiry, survey, chunk, 1));

/** Reads all pages of chunks, counts the children that they carry, and gives the chunks that carry none to `bare`. */
async function readDocument(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  bare: (chunks: readonly Listed[]) => Promise<void>,
): Promise<void> {
  const seen = new Set<string>();
  const positions = new PositionCount();
  let evidence = noEvidence;
  const pageOf = async (page: number) => {
    const answer = await inquiry.api.chunks(survey.ref, page);
    lookForTies(inquiry, survey, page, answer.rows);
    return answer;
  };
  try {
    for await (const { rows, total, docForm } of readList(pageOf, inquiry.lookAhead)) {
      survey.sizes.add("chunks", rows);
      if (total !== survey.total) survey.doubts.add("it changed while it was asked");
      const records = rows.filter(({ id }) => seen.size < seen.add(id).size);
      positions.add(records);
      evidence = withPage(evidence, { records, docForm, total }, () => "");
      await bare(await takeChildren(inquiry, survey, records));
    }
    survey.evidence = evidence;
    if (seen.size !== survey.total) survey.doubts.add(`it counts ${survey.total} chunks and lists ${seen.size}`);
  } catch (error) {
    survey.doubt(error);
  }
  survey.seePositions(positions);
}

/** Takes what chunks embed; gives those of which that is no evidence. The first that embeds some is compared with its list. */
async function takeChildren(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  records: readonly Listed[],
): Promise<readonly Listed[]> {
  const fresh = records.filter(({ id }) => !survey.sampled.has(id));
  const witness = survey.embedding === "unknown" && fresh.find((chunk) => embeddedIn(chunk).length > 0);
  if (witness) await sampleChunk(inquiry, survey, witness);
  const others = fresh.filter((chunk) => chunk !== witness);
  for (const chunk of others) survey.look(chunk);
  return others.filter((chunk) => {
    const isTaken = survey.addEmbedded(chunk);
    if (isTaken) lookForChildTies(inquiry, survey, chunk, embeddedIn(chunk), false);
    return !isTaken;
  });
}
