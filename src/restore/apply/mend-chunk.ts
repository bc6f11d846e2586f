import { chunkUpdate } from "./chunk-bodies.js";
import type { DocumentWork, Landing } from "./document-work.js";
import { isIndexed } from "./find-write.js";
import { standingChunk, textsHash } from "./row-texts.js";
import { type Prepare, writeRow } from "./write-row.js";

/** A chunk that the service stored and could not index. */
export interface UnindexedChunk {
  readonly id: string;
  /** Id in the older run. */
  readonly old_id: string;
  /** SHA-256 of its new texts. */
  readonly texts_sha256: string | null;
  /** The service's own words. */
  readonly error: string;
}

/** Times that a chunk is touched and repaired, and the wait before the next, in milliseconds. */
const mostRepairs = 2;
const betweenRepairs = 5_000;
/** Added to the text of a chunk that is touched. */
const mark = " ";

/**
 * Repairs a chunk by its id; it is never added again. The service indexes a chunk anew, and calls it completed, only if its content
 * changes: one with the status error is not retrieved. So it gets a blank at its end, which then is removed. One that is gone, or that
 * somebody changed, is given up.
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
  { options, place, docForm }: DocumentWork,
  { id, old_id, texts_sha256, error }: UnindexedChunk,
  mayTouch: boolean,
): ReturnType<Prepare> {
  const now = standingChunk(await options.api.chunk(place, id));
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
  return {
    write: options.writer.updateChunk(place, id, chunkUpdate({ ...now, content }, now, docForm)),
    facts: {
      level: "chunk",
      action: isTouched ? "repair" : "touch",
      old_id,
      target_id: id,
      parent_id: null,
      texts_sha256: textsHash({ ...now, content }),
      keywords_sha256: null,
      equal: [],
    },
  };
}
