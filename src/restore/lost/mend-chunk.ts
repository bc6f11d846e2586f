import { updateChunk } from "../row-writes.js";
import { isIndexed, textsHash } from "../standing-rows.js";
import { type DocumentWork, type Landing, type Prepare, writeRow } from "./document-work.js";

/** A chunk that the service stored but could not index. */
export interface UnindexedChunk {
  readonly id: string;
  /** Id in the older run. */
  readonly old_id: string;
  /** SHA-256 of its new texts. */
  readonly texts_sha256: string | null;
  /** The service's own words. */
  readonly error: string;
}

/** How many times to touch and repair a chunk, and the wait before the next time, in milliseconds. */
const mostRepairs = 2;
const betweenRepairs = 5_000;
/** Added to the text of a touched chunk. */
const mark = " ";

/**
 * Repairs a chunk by its id; it is never added again. The service indexes a chunk again, and marks it as completed, only if its content
 * changes: a chunk with the status error is not retrieved. So a space is added at its end and then removed. Gives up if the chunk is gone
 * or someone changed it.
 */
export async function* mendChunk(work: DocumentWork, chunk: UnindexedChunk): Landing {
  let said = chunk.error;
  for (let writes = 0; ; writes++) {
    if (writes > 0 && writes % 2 === 0) yield work.options.now() + betweenRepairs;
    const landed = yield* writeRow(work, () =>
      prepareRepair(work, { ...chunk, error: said }, writes < 2 * mostRepairs),
    );
    if (landed.kind === "changed") await work.options.journal.giveUp(chunk.id);
    if (landed.kind !== "done") return { ...landed, id: chunk.id };
    said = landed.error || said;
  }
}

async function prepareRepair(
  work: DocumentWork,
  { id, old_id, texts_sha256, error }: UnindexedChunk,
  mayTouch: boolean,
): ReturnType<Prepare> {
  const now = await work.read(id);
  const isTouched = textsHash({ ...now, content: now.content.slice(0, -mark.length) }) === texts_sha256;
  if (!isTouched && textsHash(now) !== texts_sha256) {
    return { kind: "changed", id, reason: `chunk ${id}, which the service could not index, has another text by now` };
  }
  if (!isTouched && isIndexed(now)) return { kind: "there", id };
  if (!isTouched && !mayTouch) {
    const reason = `the service stored chunk ${id} and could not index it${error === "" ? "" : `: ${error}`}`;
    return { kind: "failed", id, reason };
  }
  const content = isTouched ? now.content.slice(0, -mark.length) : now.content + mark;
  const { facts, request } = updateChunk(work, old_id, { ...now, content }, now);
  return { facts: { ...facts, write: isTouched ? "repair chunk" : "touch chunk", keywords_sha256: null }, request };
}
