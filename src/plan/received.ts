import type { Job } from "../job/job.js";
import { isReadTwice } from "./count-requests.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { Evidence } from "./evidence.js";
import type { Forecast } from "./forecast.js";

/** Bytes of an answer that belong to no row: total, page, limit and the like. */
const envelope = 100;

/**
 * Bytes that a run receives: those that the plan received, in proportion to the rows that each of them reads. Languages,
 * embedded children and lengths differ from document to document, so that a row counts for the mean size of its document.
 */
export function receivedBytes(forecast: Forecast, { answers, surveys, childPages }: Evidence, job: Job): number {
  const { pages, lists, requests, documents, mode } = forecast;
  const readings = surveys.map((survey, at) => {
    const { sweeps, lists } = documents[at] ?? { sweeps: 1, lists: 0 };
    const { count } = survey.childCount;
    const again = isReadTwice(survey, job.consistency) ? survey.children.rowsOfLong(childPages.rows) : 0;
    const whole = count * (1 + again / Math.max(1, survey.children.sum));
    const children = mode === "all" ? whole : count * Math.min(1, lists / Math.max(1, survey.total ?? 0));
    return { survey, chunks: sweeps * (survey.total ?? 0), children };
  });
  const sum = (of: (survey: DocumentSurvey, reading: (typeof readings)[number]) => number) =>
    readings.reduce((total, reading) => total + of(reading.survey, reading), 0);
  const [page, chunk, list, other] = [
    answers.of("chunk_page"),
    answers.of("chunk"),
    answers.of("child_list"),
    answers.of("other"),
  ];
  const received = { answers: page.answers + chunk.answers, bytes: page.bytes + chunk.bytes };
  const seen = (kind: "chunks" | "child_chunks") => sum(({ sizes }) => sizes.seen(kind) * sizes.mean(kind).json);
  const ofChunks = sum(({ sizes }, { chunks }) => chunks * sizes.mean("chunks").json);
  const ofChildren = sum(({ sizes }, { children }) => children * sizes.mean("child_chunks").json);
  return Math.round(
    bytesOf(pages, ofChunks, received, seen("chunks")) +
      bytesOf(lists, ofChildren, list, seen("child_chunks")) +
      ((requests - pages - lists) * other.bytes) / Math.max(1, other.answers),
  );
}

/** Bytes of so many requests for rows of that size in all, where `received` brought rows of the size `seen`. */
function bytesOf(
  requests: number,
  size: number,
  received: { readonly answers: number; readonly bytes: number },
  seen: number,
): number {
  const share = seen === 0 ? 1 : Math.max(0, received.bytes - envelope * received.answers) / seen;
  return requests * envelope + size * share;
}
