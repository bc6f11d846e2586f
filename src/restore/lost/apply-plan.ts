import { haveSameTexts, isSameSet, keywordsHash, textsHash } from "../../compare/document-rows.js";
import type {
  ChildRestore,
  ChunkRestore,
  ChunkTexts,
  DocumentPlan,
  RestorePlan,
  TargetChunk,
} from "../../compare/lost/restore-plan.js";
import { reconcile } from "../reconcile.js";
import { addChild, disableChunk, newChunk, updateChild, updateChunk } from "../row-writes.js";
import { readChildren, type StandingChunk } from "../target-rows.js";
import { interleave, sideBySide, type Waiting, type WriteOptions } from "../write-once.js";
import {
  DocumentWork,
  type Landed,
  type Landing,
  mendChunk,
  type Prepare,
  type Undecided,
  writeRow,
} from "./document-work.js";
import type { Applied, AppliedRow } from "./restore-options.js";

/** Writes several documents at once, one write at a time in each. Does not end the journal: the caller does, after the proof. */
export async function applyPlan({ documents }: RestorePlan, options: WriteOptions): Promise<Applied> {
  const { journal, progress } = options;
  const toWrite = documents.filter(({ refused, restores }) => refused === null && restores.length > 0);
  progress.chunks += toWrite.reduce((sum, { restores }) => sum + restores.length, 0);
  const rows = await sideBySide(toWrite, options, (document, signal) =>
    applyDocument(document, { ...options, signal }),
  );
  return { rows: rows.flat(), writes: journal.writes };
}

async function applyDocument(
  { dataset_id, document_id, doc_form, restores }: DocumentPlan,
  options: WriteOptions,
): Promise<readonly AppliedRow[]> {
  const { journal, progress } = options;
  const work = new DocumentWork(options, { datasetId: dataset_id, documentId: document_id }, doc_form);
  if (journal.open.some((intent) => intent.document_id === document_id))
    work.refused = "the outcome of an earlier write to this document is not known: restore it again later";
  let waiting = 0;
  const onWaiting = (count: number) => {
    progress.waiting += count - waiting;
    waiting = count;
  };
  const chunks = restores.map((restore) => counted(restoreChunk(work, restore), () => progress.chunksDone++));
  return (await interleave(chunks, { ...options, onWaiting })).flat();
}

async function* counted<T>(work: Waiting<T>, onDone: () => void): Waiting<T> {
  const result = yield* work;
  onDone();
  return result;
}

/** Finds the outcome of an earlier process's writes without an answer, and repairs the chunks that they left unindexed. */
export async function reconcileLost(options: WriteOptions): Promise<void> {
  const { journal } = options;
  await reconcile(options);
  const repairs = journal.unindexed.map((row) => {
    const place = { datasetId: row.dataset_id, documentId: row.document_id };
    return mendChunk(new DocumentWork(options, place, null), { ...row, error: "" });
  });
  await interleave(repairs, options);
}

/** Restores one chunk: its texts, then its children, and finally its disabled state. Returns a row for each. */
async function* restoreChunk(work: DocumentWork, restore: ChunkRestore): Waiting<readonly AppliedRow[]> {
  const { documentId: document_id } = work.place;
  const { chunk_id: id, position, disable } = restore;
  const texts = yield* textsOf(work, restore);
  const children: AppliedRow[] = [];
  for (const child of restore.children) {
    const landed = isGood(texts) ? yield* restoreChild(work, texts.id, child) : notBelow(texts);
    const { child_id: id, position } = child;
    children.push({ document_id, level: "child_chunk", id, position, ...resultOf(landed) });
  }
  const said = restore.texts ?? restore.target;
  const end = disable && said && isGood(texts) ? yield* disabled(work, id, texts.id, said) : undefined;
  if (restore.texts === null && !disable) return children;
  const result = end ? resultOfBoth(restore.texts === null ? undefined : texts, end) : resultOf(texts);
  return [{ document_id, level: "chunk", id, position, ...result }, ...children];
}

type Good = Extract<Landed, { readonly kind: "written" | "there" }>;

function isGood(landed: Landed): landed is Good {
  return landed.kind === "written" || landed.kind === "there";
}

function notBelow({ kind, reason }: Exclude<Landed, Good>): Landed {
  return { kind, id: null, reason: `its chunk: ${reason}` };
}

type Result = Pick<AppliedRow, "outcome" | "target_id" | "reason">;

function resultOf(landed: Landed): Result {
  return { outcome: landed.kind, target_id: landed.id, reason: "reason" in landed ? landed.reason : null };
}

/** The result of writing the texts of a disabled chunk and disabling it again. If only the texts were written, it is still enabled. */
function resultOfBoth(texts: Landed | undefined, end: Landed): Result {
  if (isGood(end)) return resultOf(texts?.kind === "written" ? texts : end);
  if (texts === undefined && end.kind === "changed meanwhile") return resultOf(end);
  return { ...resultOf(end), target_id: texts?.id ?? null, outcome: "still enabled" };
}

/** Writes the texts of one chunk: to its target, or as a new one. Without texts, only checks the chunk of its children. */
async function* textsOf(work: DocumentWork, { chunk_id, target, texts, equal, children }: ChunkRestore): Landing {
  if (!target && texts) return yield* addTexts(work, chunk_id, texts, equal);
  if (!target) return { kind: "failed", id: null, reason: "the plan names no chunk of the target" };
  const there = { kind: "there", id: target.id } as const;
  if (!texts && children.length === 0) return there;
  const prepare = (from: TargetChunk, next: ChunkTexts | null) => async () => {
    const now = await work.read(target.id);
    const verdict = judgeTarget(now, work.place.documentId, from, texts);
    return verdict ?? (next ? updateChunk(work, chunk_id, next, now) : there);
  };
  if (!texts) return yield* writeRow(work, prepare(target, null));
  const update = (from: TargetChunk, next: ChunkTexts) => written(work, chunk_id, next, prepare(from, next));
  const first = keywordsFirst(target, texts);
  if (!first) return yield* update(target, texts);
  const landed = yield* update(target, first);
  return isGood(landed) ? yield* update({ ...target, ...first, enabled: true }, texts) : landed;
}

/**
 * The first of two requests, with the old text and the new keywords: a service with embeddings ignores the keywords of a request that
 * changes the text. It comes first, so that the target still has the planned text if the second request fails.
 */
function keywordsFirst(target: TargetChunk, texts: ChunkTexts): ChunkTexts | undefined {
  const { content, keywords } = texts;
  const isNeeded =
    keywords && keywords.length > 0 && !isSameSet(keywords, target.keywords) && target.content !== content;
  return isNeeded ? { content: target.content, answer: target.answer, keywords } : undefined;
}

async function* written(work: DocumentWork, old_id: string, texts: ChunkTexts, prepare: Prepare): Landing {
  const landed = yield* writeRow(work, prepare);
  if (landed.kind !== "written") return landed;
  const texts_sha256 = textsHash(texts);
  const { id, error } = landed;
  await work.remember(texts_sha256, id);
  return landed.isIndexed ? landed : yield* mendChunk(work, { id, old_id, texts_sha256, error });
}

/**
 * Adds a chunk, or repairs the one that an earlier write added with these texts. `known`: chunks with these texts when the plan was made.
 * One more means that an add landed late or someone added it; it is used.
 */
async function* addTexts(work: DocumentWork, old_id: string, texts: ChunkTexts, known: number): Landing {
  const { options, place, docForm, writer } = work;
  const hash = textsHash(texts);
  const left = options.journal.unindexed.find(
    (row) => row.document_id === place.documentId && row.is_added && row.texts_sha256 === hash,
  );
  if (left) return yield* mendChunk(work, { ...left, error: "" });
  return yield* written(work, old_id, texts, async () => {
    const equal = await work.equalTo(hash);
    const others = equal.filter((id) => !work.isOurs(id));
    const newest = others.at(-1);
    if (newest !== undefined && others.length > known) {
      await work.remember(hash, newest);
      return { kind: "there", id: newest };
    }
    const keywords_sha256 = keywordsHash(texts.keywords);
    return {
      facts: { write: "add chunks", old_id, texts_sha256: hash, keywords_sha256, equal },
      request: writer.addChunk(place, newChunk(texts, docForm)),
    };
  });
}

/** Disables a chunk with these texts. The service refuses changes of a chunk for ten minutes after it was enabled. */
async function* disabled(work: DocumentWork, oldId: string, id: string, texts: ChunkTexts): Landing {
  return yield* writeRow(work, async () => {
    const now = await work.read(id);
    const reason = `chunk ${id} would get another text if it were disabled`;
    if (now.document_id !== work.place.documentId || !haveSameTexts(now, texts))
      return { kind: "changed meanwhile", id, reason };
    return now.enabled ? disableChunk(work, oldId, now) : { kind: "there", id };
  });
}

/** Writes one child chunk to a chunk of the target: replaces the child that the plan names (its twin), or adds it after the last one. */
async function* restoreChild(work: DocumentWork, chunkId: string, child: ChildRestore): Landing {
  return yield* writeRow(work, async () => {
    const { child_id: id, content, twin } = child;
    const children = await readChildren(work.options.api, work.place, chunkId);
    if (!twin) return addChild(work, chunkId, { id, content }, children);
    const now = children.find((each) => each.id === twin.id);
    if (now?.content === content) return { kind: "there", id: twin.id };
    if (now?.content === twin.content) return updateChild(work, chunkId, { id, content }, twin.id);
    const what = now ? "differs in text from the one that the plan was made for" : "is gone";
    return { kind: "changed meanwhile", id: null, reason: `child chunk ${twin.id} ${what}` };
  });
}

/** Compares a chunk with the plan right before its change; undefined if it is as planned. Without new texts, only its own texts count. */
function judgeTarget(
  now: StandingChunk,
  documentId: string,
  target: TargetChunk,
  texts: ChunkTexts | null,
): Undecided | undefined {
  const changed = (what: string) =>
    ({ kind: "changed meanwhile", id: null, reason: `chunk ${now.id} ${what}` }) as const;
  if (now.document_id !== documentId) return changed("does not belong to this document");
  const areKeywordsDone = !texts?.keywords?.length || isSameSet(now.keywords, texts.keywords); // none in the plan: the service chooses them
  if (texts && haveSameTexts(now, texts) && areKeywordsDone) return { kind: "there", id: target.id };
  const differing = [
    ...(haveSameTexts(now, target) ? [] : ["text"]),
    ...(texts === null || isSameSet(now.keywords, target.keywords) ? [] : ["keywords"]),
    ...(texts === null || now.enabled === target.enabled ? [] : ["state"]),
  ];
  if (differing.length === 0) return undefined;
  return changed(`differs in ${differing.join(" and ")} from the one that the plan was made for`);
}
