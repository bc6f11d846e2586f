import type { Listed } from "../client/check-answer.js";
import type { DocumentRef } from "../client/knowledge-api.js";
import { noEvidence, withPage } from "../crawl/child-evidence.js";
import { mapAhead } from "../crawl/prefetch.js";
import { readList } from "../crawl/read-list.js";
import type { RunProgress } from "../job/run-progress.js";
import { countOf } from "../words.js";
import { DocumentSurvey, embeddedIn, pagesOf } from "./document-survey.js";
import { askChildren, type Inquiry, lookForChildTies, lookForTies, readChunks, sampleChunk } from "./inquiry.js";

/** The share of a page that the longest list of a sample may fill before others are thought to take more than one. */
const harmless = 0.25;

/** The share of the budget that goes to pages of chunks without a suspicion: they are large. */
const pageShare = 0.2;

/**
 * Finds out how many children the chunks have, for so many requests at the most: from the pages of documents whose chunks
 * carry their children, which tell a hundred lists each; from the lists of a few chunks of every other document; and, where
 * those are so long that others may take more than one page, from all lists. Without a bound, from all lists in any case.
 */
export async function countChildren(
  inquiry: Inquiry,
  surveys: readonly DocumentSurvey[],
  budget: number,
): Promise<void> {
  const readAll = (survey: DocumentSurvey) => readDocument(inquiry, survey, askAll);
  const readPages = (survey: DocumentSurvey) => readDocument(inquiry, survey, async () => {});
  if (budget === Number.POSITIVE_INFINITY) return forEach(inquiry, surveys.filter(isOpen), readAll);

  const pageCost = ({ total }: DocumentSurvey) => pagesOf(total ?? 0, inquiry.chunkPages.rows) + 1;
  const forPages = Math.floor(budget * pageShare);
  await spend(inquiry, forPages, surveys.filter(mayEmbed), { cost: pageCost, work: readPages });
  const others = surveys.filter((survey) => survey.allPages === undefined || !mayEmbed(survey));
  const sample = { cost: sampleCost, work: (survey: DocumentSurvey) => sampleDocument(inquiry, survey) };
  const left = await spend(inquiry, budget - forPages, others, sample);
  const isSuspect = ({ longest }: DocumentSurvey) => (longest?.children ?? 0) > harmless * inquiry.childPages.rows;
  await spend(inquiry, left, others.filter(isSuspect), {
    cost: (survey) => pageCost(survey) + (mayEmbed(survey) ? 0 : survey.unknown),
    work: (survey) => (mayEmbed(survey) ? readPages(survey) : readAll(survey)),
  });
}

/** Does the work for the documents with open questions, the largest first, whose cost is within the budget; gives what is left. */
async function spend(
  inquiry: Inquiry,
  budget: number,
  surveys: readonly DocumentSurvey[],
  { cost, work }: { cost: (survey: DocumentSurvey) => number; work: (survey: DocumentSurvey) => Promise<void> },
): Promise<number> {
  let left = budget;
  const largestFirst = surveys.filter(isOpen).sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
  const chosen = largestFirst.filter((survey) => {
    const isAffordable = cost(survey) <= left;
    if (isAffordable) left -= cost(survey);
    return isAffordable;
  });
  await forEach(inquiry, chosen, work);
  return left;
}

function isOpen({ error, unknown }: DocumentSurvey): boolean {
  return error === null && unknown > 0;
}

/** Whether the pages of chunks may tell the children: nothing speaks against it, and it is the form that does so. */
function mayEmbed({ embedding, docForm }: DocumentSurvey): boolean {
  return embedding === "agrees" || (embedding === "unknown" && docForm === "hierarchical_model");
}

async function forEach<T>({ prefetch }: Inquiry, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for await (const _ of mapAhead(items, prefetch, work));
}

type Ask = (inquiry: Inquiry, survey: DocumentSurvey, chunks: readonly Listed[]) => Promise<void>;

const askAll: Ask = (inquiry, survey, chunks) =>
  forEach(inquiry, chunks, (chunk) => askChildren(inquiry, survey, chunk, 1));

/** Reads all pages of chunks, counts the children that they carry, and asks for those of the chunks that carry none. */
async function readDocument(inquiry: Inquiry, survey: DocumentSurvey, askBare: Ask): Promise<void> {
  const seen = new Set<string>();
  let evidence = noEvidence;
  const pageOf = async (page: number) => {
    const answer = await readChunks(inquiry, survey, page);
    lookForTies(inquiry, survey, page, answer.rows);
    return answer;
  };
  try {
    for await (const { rows, total, docForm } of readList(pageOf, inquiry.prefetch)) {
      if (total !== survey.total) survey.doubts.add("it changed while it was read");
      const records = rows.filter(({ id }) => seen.size < seen.add(id).size);
      evidence = withPage(evidence, { records, docForm, total }, () => "");
      await askBare(inquiry, survey, await takeChildren(inquiry, survey, records));
    }
    survey.allPages = evidence;
    if (seen.size !== survey.total)
      survey.doubts.add(`it counts ${countOf(survey.total ?? 0, "chunk")} and lists ${seen.size}`);
  } catch (error) {
    survey.doubt(error);
  }
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
  return fresh.filter((chunk) => {
    if (chunk === witness) return false;
    if (!survey.addEmbedded(chunk)) return true;
    lookForChildTies(inquiry, survey, chunk, { rows: embeddedIn(chunk), isAnswer: false });
    return false;
  });
}

/**
 * Asks every document for its first chunk, which comes with the number of all, and then for the first children of that
 * chunk. A document that cannot be read is noted; what would end a run is thrown.
 */
export async function surveyDocuments(
  inquiry: Inquiry,
  refs: readonly DocumentRef[],
  progress: RunProgress,
): Promise<readonly DocumentSurvey[]> {
  const surveys: DocumentSurvey[] = [];
  progress.documents = refs.length;
  for await (const survey of mapAhead(refs, inquiry.prefetch, (ref) => surveyDocument(inquiry, ref))) {
    surveys.push(survey);
    progress.documentsDone++;
    progress.chunks += survey.total ?? 0;
    progress.child_chunks += survey.children.sum;
    if (survey.error !== null) progress.documentsFailed++;
  }
  return surveys;
}

async function surveyDocument(inquiry: Inquiry, ref: DocumentRef): Promise<DocumentSurvey> {
  const survey = new DocumentSurvey(ref, inquiry.sizes);
  try {
    const { rows, total } = await readChunks(inquiry, survey, 1, 1);
    const [first] = rows;
    if (!first && total > 0) survey.doubts.add(`it counts ${countOf(total, "chunk")} and lists none`);
    if (first) await sampleChunk(inquiry, survey, first);
  } catch (error) {
    survey.fail(error);
  }
  return survey;
}

/** Chunks at the beginning of a document whose child lists are asked; one request brings them all. */
const first = 5;

/** Places of further sampled chunks, as shares of the document: at irregular distances, so that no period is missed. */
const places = [0.29, 0.67, 1];

/** Requests that the sample of a document takes. */
function sampleCost({ total }: DocumentSurvey): number {
  return 1 + Math.min(first, total ?? 0) + 2 * placesIn(total ?? 0).length;
}

/** Asks the first chunks of a document, and a few further on, for their children: all at once, as a run does. */
async function sampleDocument(inquiry: Inquiry, survey: DocumentSurvey): Promise<void> {
  const sample = async (place: number, chunk?: Listed) => {
    const drawn = chunk ?? (await readChunks(inquiry, survey, place, 1)).rows[0];
    if (drawn) await sampleChunk(inquiry, survey, drawn);
  };
  try {
    const { rows } = await readChunks(inquiry, survey, 1, first);
    const beginning = rows.slice(0, first).map((chunk, at) => sample(at + 1, chunk));
    const further = placesIn(survey.total ?? 0).map((place) => sample(place, rows[place - 1]));
    for (const outcome of await Promise.allSettled([...beginning, ...further]))
      if (outcome.status === "rejected") throw outcome.reason;
  } catch (error) {
    survey.doubt(error);
  }
}

/** The numbers, from 1, of the further chunks of a document of so many. */
export function placesIn(total: number): readonly number[] {
  const numbers = places.map((share) => Math.round(share * total));
  return [...new Set(numbers)].filter((number) => number > first);
}
