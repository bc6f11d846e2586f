import type { Listed } from "../client/check-list.js";
import type { DocumentRef } from "../client/knowledge-api.js";
import { mapAhead } from "../crawl/look-ahead.js";
import type { RunTally } from "../run/setting/run-tally.js";
import { countOf } from "../words.js";
import { DocumentSurvey } from "./document-survey.js";
import { type Inquiry, readChunks, sampleChunk } from "./inquiry.js";

/**
 * Asks every document for its first chunk, which comes with the number of all, and then for the first children of that
 * chunk. A document that cannot be read is noted; what would end a run is thrown.
 */
export async function surveyDocuments(
  inquiry: Inquiry,
  refs: readonly DocumentRef[],
  tally: RunTally,
): Promise<readonly DocumentSurvey[]> {
  const surveys: DocumentSurvey[] = [];
  tally.documents = refs.length;
  for await (const survey of mapAhead(refs, inquiry.lookAhead, (ref) => surveyDocument(inquiry, ref))) {
    surveys.push(survey);
    tally.documentsDone++;
    tally.chunks += survey.total ?? 0;
    tally.child_chunks += survey.children.sum;
    if (survey.error !== null) tally.documentsFailed++;
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
export function sampleCost({ total }: DocumentSurvey): number {
  return 1 + Math.min(first, total ?? 0) + 2 * placesIn(total ?? 0).length;
}

/** Asks the first chunks of a document, and a few further on, for their children: all at once, as a run does. */
export async function sampleDocument(inquiry: Inquiry, survey: DocumentSurvey): Promise<void> {
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
