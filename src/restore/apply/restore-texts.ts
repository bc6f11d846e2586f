import type { ChunkRestore, ChunkTexts, TargetChunk } from "../restore-plan.js";
import { isSameSet } from "../same-set.js";
import { chunkDisabling, chunkUpdate, newChunk } from "./chunk-bodies.js";
import type { DocumentWork, Landing } from "./document-work.js";
import { judgeTarget } from "./judge-target.js";
import { mendChunk, type UnindexedChunk } from "./mend-chunk.js";
import { haveSameTexts, keywordsHash, standingChunk, textsHash } from "./row-texts.js";
import { type Prepare, writeRow } from "./write-row.js";
import type { WrittenRow } from "./written-rows.js";

/** Writes the texts of one chunk: to its target, or as a new chunk behind the last one. */
export async function* restoreTexts(
  work: DocumentWork,
  { chunk_id, target, equal }: ChunkRestore,
  texts: ChunkTexts,
): Landing {
  if (!target) {
    const left = unindexedChunk(work, texts);
    if (left) return yield* mended(work, { ...left, error: "" });
    return yield* written(work, chunk_id, texts, () => prepareAdding(work, chunk_id, texts, equal));
  }
  const first = keywordsFirst(target, texts);
  if (first) {
    const landed = yield* written(work, chunk_id, first, () => prepareUpdate(work, chunk_id, target, first, texts));
    if (landed.kind !== "done" && landed.kind !== "there") return landed;
  }
  const from = first ? { ...target, ...first, enabled: true } : target;
  return yield* written(work, chunk_id, texts, () => prepareUpdate(work, chunk_id, from, texts));
}

/** A chunk that an earlier write added with these texts, and that is not repaired yet: it may say a little more by now. */
function unindexedChunk({ options, place }: DocumentWork, texts: ChunkTexts): WrittenRow | undefined {
  return options.journal.unindexed.find(
    ({ document_id, is_added, texts_sha256 }) =>
      document_id === place.documentId && is_added && texts_sha256 === textsHash(texts),
  );
}

/**
 * The texts of a request before the one that changes the text: a service with embeddings ignores the keywords of that one. They come
 * first, so that the target still says what the plan expects if nothing follows.
 */
function keywordsFirst(target: TargetChunk, texts: ChunkTexts): ChunkTexts | undefined {
  const { keywords } = texts;
  if (!keywords || keywords.length === 0 || isSameSet(keywords, target.keywords)) return undefined;
  if (target.content === texts.content) return undefined;
  return { content: target.content, answer: target.answer, keywords };
}

async function* written(work: DocumentWork, oldId: string, texts: ChunkTexts, prepare: Prepare): Landing {
  const landed = yield* writeRow(work, prepare);
  if (landed.kind !== "done") return landed;
  await work.remember(textsHash(texts), landed.id);
  if (landed.isIndexed) return landed;
  const { id, error } = landed;
  return yield* mended(work, { id, old_id: oldId, texts_sha256: textsHash(texts), error });
}

/** A chunk that is repaired was written, whoever indexed it in the end. */
async function* mended(work: DocumentWork, chunk: UnindexedChunk): Landing {
  const landed = yield* mendChunk(work, chunk);
  return landed.kind === "there" ? { kind: "done", id: chunk.id, isIndexed: true, error: "" } : landed;
}

/** Looks at a chunk of which only the children are written. */
export async function* checkParent(work: DocumentWork, target: TargetChunk): Landing {
  return yield* writeRow(work, async () => {
    const verdict = judgeTarget(await readTarget(work, target.id), work.place.documentId, target, null);
    return verdict.kind === "changed" ? { ...verdict, id: null } : { kind: "there", id: target.id };
  });
}

/** Disables a chunk that says these texts. The service takes no change of a chunk for ten minutes after it was enabled. */
export async function* disableChunk(work: DocumentWork, oldId: string, chunkId: string, texts: ChunkTexts): Landing {
  const landed = yield* writeRow(work, () => prepareDisabling(work, oldId, chunkId, texts));
  if (landed.kind !== "busy") return landed;
  const { enabled } = await readTarget(work, chunkId);
  return enabled ? landed : { kind: "there", id: chunkId };
}

/** `lost`: the texts that shall stand in the end, if this request is not the last. */
async function prepareUpdate(
  work: DocumentWork,
  oldId: string,
  target: TargetChunk,
  texts: ChunkTexts,
  lost = texts,
): ReturnType<Prepare> {
  const { options, place, docForm } = work;
  const now = await readTarget(work, target.id);
  const verdict = judgeTarget(now, place.documentId, target, lost);
  if (verdict.kind === "changed") return { ...verdict, id: null };
  if (verdict.kind === "there") return { kind: "there", id: target.id };
  return {
    write: options.writer.updateChunk(place, target.id, chunkUpdate(texts, now, docForm)),
    facts: { ...factsOf(oldId, texts), action: "update", target_id: target.id },
  };
}

/** `known`: chunks that said these texts when the plan was made. One more landed late, or another person added it: it stands for one row. */
async function prepareAdding(work: DocumentWork, oldId: string, texts: ChunkTexts, known: number): ReturnType<Prepare> {
  const { options, place, docForm } = work;
  const hash = textsHash(texts);
  const equal = await work.equalTo(hash);
  const others = equal.filter((id) => !work.isOurs(id));
  const newest = others.at(-1);
  if (newest !== undefined && others.length > known) {
    await work.remember(hash, newest);
    return { kind: "there", id: newest };
  }
  return {
    write: options.writer.addChunk(place, newChunk(texts, docForm)),
    facts: { ...factsOf(oldId, texts), action: "add", target_id: null, equal },
  };
}

async function prepareDisabling(
  work: DocumentWork,
  oldId: string,
  chunkId: string,
  texts: ChunkTexts,
): ReturnType<Prepare> {
  const { options, place, docForm } = work;
  const now = await readTarget(work, chunkId);
  if (now.document_id !== place.documentId || !haveSameTexts(now, texts)) {
    return {
      kind: "changed",
      id: chunkId,
      reason: `chunk ${chunkId} says something else than it shall when it is disabled`,
    };
  }
  if (!now.enabled) return { kind: "there", id: chunkId };
  return {
    write: options.writer.updateChunk(place, chunkId, chunkDisabling(now, docForm)),
    facts: { ...factsOf(oldId, null), action: "disable", target_id: chunkId },
  };
}

async function readTarget({ options, place }: DocumentWork, chunkId: string) {
  return standingChunk(await options.api.chunk(place, chunkId));
}

function factsOf(oldId: string, texts: ChunkTexts | null) {
  return {
    level: "chunk",
    old_id: oldId,
    parent_id: null,
    texts_sha256: texts && textsHash(texts),
    keywords_sha256: texts && keywordsHash(texts.keywords),
    equal: [] as readonly string[],
  } as const;
}
