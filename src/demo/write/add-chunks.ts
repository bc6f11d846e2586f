import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { Dataset, Document } from "../knowledge.js";
import { invalidParam, notReady } from "../refusal.js";
import { accounts } from "../sample/stable-id.js";
import { withChildren } from "../store/change-document.js";
import { type ChunkText, isQa, newChunk } from "../store/new-chunk.js";
import { automaticChildren, isHighQuality } from "../store/new-source.js";
import type { AddedChunk } from "./requests.js";

/** Throws a 404 or 400 for a document that takes no new chunks. */
export function checkReady({ indexing_status = "completed", enabled = true, archived = false }: Document): void {
  if (indexing_status !== "completed") throw notReady("not completed");
  if (enabled !== true) throw notReady("disabled");
  if (archived === true) throw invalidParam("The document is archived.");
}

/** The texts to add. Throws a 400 for too many of them, and for one that says nothing. `most`: 0 for any number. */
export function checkTexts(added: readonly AddedChunk[], document: Document, most: number): readonly ChunkText[] {
  if (most > 0 && added.length > most) throw invalidParam(`Exceeded maximum segments limit of ${most}.`);
  return added.map(({ content, answer, keywords }) => {
    if (isQa(document)) checkAnswer(answer);
    if (!content?.trim()) throw invalidParam("Content is empty");
    return { content, answer: answer ?? null, keywords: keywords ?? [] };
  });
}

function checkAnswer(answer: string | null | undefined): void {
  if (!answer) throw invalidParam("Answer is required");
  if (answer.trim() === "") throw invalidParam("Answer is empty");
}

/** The circumstances of an addition. */
interface Addition {
  readonly dataset: Dataset;
  /** Unix seconds. */
  readonly time: number;
  /** Why the chunks cannot be indexed; undefined where they can. */
  readonly failure: string | undefined;
  readonly nextId: () => string;
}

/** The chunks that come of these texts, at the end of the document. They fail together: then they are stored, and disabled. */
export function chunksFrom(
  texts: readonly ChunkText[],
  document: StoredDocument,
  { dataset, time, failure, nextId }: Addition,
): readonly StoredChunk[] {
  const last = document.chunks.reduce((greatest, { row }) => Math.max(greatest, row.position), 0);
  return texts.map((text, index) => {
    const place = { id: nextId(), position: last + index + 1, time, by: accounts.owner };
    const chunk = { row: newChunk(document.row, text, isHighQuality(dataset), place), children: [] };
    if (failure !== undefined) return { ...chunk, row: { ...chunk.row, ...failedState(failure, time) } };
    return withChildren(chunk, automaticChildren(chunk, document, dataset, { time, round: 0 }), document);
  });
}

/** The state of a chunk that could not be indexed. */
export function failedState(error: string, time: number) {
  return { enabled: false, disabled_at: time, disabled_by: null, status: "error", error };
}
