import type { ChunkUpdate, NewChunk } from "../../client/write/write-bodies.js";
import type { ChunkTexts } from "../restore-plan.js";
import type { StandingChunk } from "./row-texts.js";

/** The body that adds a chunk with these texts. Where chunks have answers, one must be sent, or it is lost. */
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
 * The body that makes a chunk say these texts. Attachments that it does not name are unbound, so it names those that the chunk has
 * now; and a disabled chunk takes a change only together with being enabled.
 */
export function chunkUpdate(texts: ChunkTexts, now: StandingChunk, docForm: string | null): ChunkUpdate {
  const enabling = now.enabled ? {} : { enabled: true };
  return { ...newChunk(texts, docForm), ...enabling, attachment_ids: now.attachment_ids };
}

/** The body that disables a chunk. The service ignores its texts; one that did not would lose what is left out. */
export function chunkDisabling(now: StandingChunk, docForm: string | null): ChunkUpdate {
  return { ...newChunk(now, docForm), enabled: false, attachment_ids: now.attachment_ids };
}
