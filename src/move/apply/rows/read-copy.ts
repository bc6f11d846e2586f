import { type KnowledgeApi, pageSize } from "../../../client/knowledge-api.js";
import { SkipError } from "../../../errors.js";
import { type Place, readStandingChunks } from "../../../restore/apply/read-standing.js";
import { type StandingChunk, standingChunk } from "../../../restore/apply/row-texts.js";
import type { DocumentWork } from "../apply-options.js";

/** All chunks of the document in the target, in order. */
export async function readCopy({ options, place }: DocumentWork): Promise<readonly StandingChunk[]> {
  return readStandingChunks(options.api, place);
}

/** The chunks behind the first so many, in order. The list may grow meanwhile: chunks are added at its end. */
export async function readTail(
  { options, place }: { readonly place: Place; readonly options: { readonly api: Pick<KnowledgeApi, "chunks"> } },
  from: number,
): Promise<readonly StandingChunk[]> {
  const document = { ...place, status: [], keyword: undefined };
  const firstPage = Math.floor(from / pageSize) + 1;
  const tail: StandingChunk[] = [];
  for (let page = firstPage; ; page++) {
    const { rows, total } = await options.api.chunks(document, page);
    if (rows.length === total) return rows.slice(from).map(standingChunk); // older releases give everything on every page
    tail.push(...rows.map(standingChunk));
    if (rows.length < pageSize) return tail.slice(from % pageSize);
  }
}

/** A chunk of the document; undefined where it is gone. */
export async function readChunk({ options, place }: DocumentWork, id: string): Promise<StandingChunk | undefined> {
  try {
    return standingChunk(await options.api.chunk(place, id));
  } catch (error) {
    if (error instanceof SkipError && error.status === 404) return undefined;
    throw error;
  }
}
