import type { DocumentRef } from "../client/knowledge-api.js";
import { mapAhead } from "../crawl/look-ahead.js";
import type { RunTally } from "../run/setting/run-tally.js";
import { DocumentSurvey } from "./document-survey.js";
import { askChildren, type Inquiry } from "./inquiry.js";
import { positionsOf } from "./ties.js";

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
  const survey = new DocumentSurvey(ref, inquiry.sizes.ofDocument());
  try {
    const { rows, total, docForm } = await inquiry.api.chunks(ref, 1, 1);
    survey.total = total;
    survey.docForm = docForm;
    inquiry.chunkPages.add({ limit: 1, rows: rows.length, total });
    survey.sizes.add("chunks", rows);
    survey.seePositions(positionsOf(rows));
    const [first] = rows;
    if (!first && total > 0) survey.doubts.add(`it counts ${total} chunks and lists none`);
    if (first) await sampleChunk(inquiry, survey, first);
  } catch (error) {
    survey.fail(error);
  }
  return survey;
}

/** Asks for the children of a chunk, unless that was done. */
export async function sampleChunk(
  inquiry: Inquiry,
  survey: DocumentSurvey,
  chunk: Parameters<typeof askChildren>[2],
): Promise<void> {
  if (survey.sampled.has(chunk.id)) return;
  survey.sampled.add(chunk.id);
  survey.look(chunk);
  await askChildren(inquiry, survey, chunk);
}
