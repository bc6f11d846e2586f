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

/** Asks the first chunks of a document, and a few further on, for their children. */
export async function sampleDocument(inquiry: Inquiry, survey: DocumentSurvey): Promise<void> {
  const { api, chunkPages } = inquiry;
  try {
    const { rows } = await api.chunks(survey.ref, 1, first);
    for (const chunk of rows.slice(0, first)) await sampleChunk(inquiry, survey, chunk);
    for (const place of placesIn(survey.total ?? 0)) {
      const chunk = chunkPages.isPaged ? (await api.chunks(survey.ref, place, 1)).rows[0] : rows[place - 1];
      if (!chunk) continue;
      survey.sizes.add("chunks", [chunk]);
      await sampleChunk(inquiry, survey, chunk);
    }
  } catch (error) {
    survey.doubt(error);
  }
}

/** The numbers, from 1, of the further chunks of a document of so many. */
export function placesIn(total: number): readonly number[] {
  const numbers = places.map((share) => Math.round(share * total));
  return [...new Set(numbers)].filter((number) => number > first);
}
