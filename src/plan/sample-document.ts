import type { Listed } from "../client/check-list.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { Inquiry } from "./inquiry.js";
import { sampleChunk } from "./survey-documents.js";

/** Chunks at the beginning of a document whose child lists are asked; one request brings them all. */
const first = 5;

/** Where in a document further chunks are drawn, as shares of it: at no regular distance, as what repeats would be missed. */
const places = [0.29, 0.67, 1];

/** Requests that the sample of a document takes. */
export function sampleCost({ total }: DocumentSurvey): number {
  return 1 + Math.min(first, total ?? 0) + 2 * placesIn(total ?? 0).length;
}

/** Asks the first chunks of a document, and a few further on, for their children: all at once, as a run does. */
export async function sampleDocument(inquiry: Inquiry, survey: DocumentSurvey): Promise<void> {
  const { api } = inquiry;
  const sampleOf = async (place: number, chunk?: Listed) => {
    const drawn = chunk ?? (await api.chunks(survey.ref, place, 1)).rows[0];
    if (!drawn) return;
    survey.sizes.add("chunks", [drawn]);
    await sampleChunk(inquiry, survey, drawn);
  };
  try {
    const { rows } = await api.chunks(survey.ref, 1, first);
    const beginning = rows.slice(0, first).map((chunk, at) => sampleOf(at + 1, chunk));
    const further = placesIn(survey.total ?? 0).map((place) => sampleOf(place, rows[place - 1]));
    await settled([...beginning, ...further]);
  } catch (error) {
    survey.doubt(error);
  }
}

/** Waits for all of them, and then rejects with the reason of the first that failed. */
async function settled(work: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(work)) if (outcome.status === "rejected") throw outcome.reason;
}

/** The numbers, from 1, of the further chunks of a document of so many. */
export function placesIn(total: number): readonly number[] {
  const numbers = places.map((share) => Math.round(share * total));
  return [...new Set(numbers)].filter((number) => number > first);
}
