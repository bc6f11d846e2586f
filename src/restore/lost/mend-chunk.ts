import type { ChunkUpdate, NewChunk } from "../../client/write/operations.js";
import type { ChunkTexts } from "../../compare/lost/restore-plan.js";
import { isIndexed, type StandingChunk, standingChunk, textsHash } from "../standing-rows.js";
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
      write: isTouched ? "repair chunk" : "touch chunk",
      old_id,
      target_id: id,
      parent_id: null,
      texts_sha256: textsHash({ ...now, content }),
      keywords_sha256: null,
      equal: [],
    },
  };
}

/** The body that adds a chunk with these texts. In qa_model documents an answer must be sent, or it is lost. */
export function newChunk(texts: ChunkTexts, docForm: string | null): NewChunk {
  const { content, answer, keywords } = texts;
  const hasAnswer = docForm === "qa_model" || (answer ?? "") !== "";
  return {
    content,
    ...(hasAnswer ? { answer: answer ?? "" } : {}),
    ...(keywords && keywords.length > 0 ? { keywords } : {}),
  };
}

/**
 * The body that sets a chunk's texts. The service unbinds attachments that are not listed, so it lists the current
 * ones. A disabled chunk accepts a change only if the same request enables it.
 */
export function chunkUpdate(texts: ChunkTexts, now: StandingChunk, docForm: string | null): ChunkUpdate {
  const enabling = now.enabled ? {} : { enabled: true };
  return { ...newChunk(texts, docForm), ...enabling, attachment_ids: now.attachment_ids };
}

/** The body that disables a chunk. The service ignores its texts; they are sent in case another release does not. */
export function chunkDisabling(now: StandingChunk, docForm: string | null): ChunkUpdate {
  return { ...newChunk(now, docForm), enabled: false, attachment_ids: now.attachment_ids };
}
