import { isSameSet } from "../../compare/document-rows.js";
import type {
  ChildRestore,
  ChunkRestore,
  ChunkTexts,
  DocumentPlan,
  RestorePlan,
  TargetChunk,
} from "../../compare/lost/restore-plan.js";
import type { WrittenRow } from "../journal-facts.js";
import { reconcile } from "../reconcile.js";
import { addChild, disableChunk, newChunk, updateChild, updateChunk } from "../row-writes.js";
import {
  haveSameTexts,
  keywordsHash,
  readChildren,
  type StandingChild,
  type StandingChunk,
  textsHash,
} from "../standing-rows.js";
import { interleave, sideBySide, type Waiting } from "../write-once.js";
import {
  type ApplyOptions,
  DocumentWork,
  type Landed,
  type Landing,
  mendChunk,
  type Prepare,
  type Undecided,
  type UnindexedChunk,
  writeRow,
} from "./document-work.js";
import type { Applied, AppliedRow, RowOutcome } from "./restore-options.js";

/**
 * Executes a plan: several documents at once, one write at a time in each. Every write is in the journal before it is sent. The
 * journal stays open, so that the proof of the restore can end it. Rejects with StopError if the key is refused, and with the
 * reason of the signal.
 */
export async function applyPlan({ documents }: RestorePlan, options: ApplyOptions): Promise<Applied> {
  const { journal, progress } = options;
  const toWrite = documents.filter(({ refused, restores }) => refused === null && restores.length > 0);
  progress.chunks += toWrite.reduce((sum, { restores }) => sum + restores.length, 0);
  const unreconciled = new Set(journal.open.map(({ document_id }) => document_id));
  const rows = await sideBySide(toWrite, options, (document, signal) =>
    applyDocument(document, { ...options, signal }, unreconciled.has(document.document_id)),
  );
  return { rows: rows.flat(), writes: journal.writes };
}

async function applyDocument(
  { dataset_id, document_id, doc_form, restores }: DocumentPlan,
  options: ApplyOptions,
  isUnreconciled: boolean,
): Promise<readonly AppliedRow[]> {
  const { progress } = options;
  const work = new DocumentWork(options, { datasetId: dataset_id, documentId: document_id }, doc_form);
  if (isUnreconciled)
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
export async function reconcileLost(options: ApplyOptions): Promise<void> {
  const { journal } = options;
  await reconcile(options);
  const repairs = journal.unindexed.map((row) => {
    const place = { datasetId: row.dataset_id, documentId: row.document_id };
    return mendChunk(new DocumentWork(options, place, null), { ...row, error: "" });
  });
  await interleave(repairs, options);
}

const outcomes: Readonly<Record<Landed["kind"], RowOutcome>> = {
  done: "written",
  there: "there",
  changed: "changed meanwhile",
  failed: "failed",
  busy: "failed",
};

/** Restores one chunk: its texts, then its children, and finally its disabled state. Returns a row for each. */
async function* restoreChunk(work: DocumentWork, restore: ChunkRestore): Waiting<readonly AppliedRow[]> {
  const { documentId: document_id } = work.place;
  const texts = yield* textsOf(work, restore);
  const children: AppliedRow[] = [];
  for (const child of restore.children) {
    const landed = isGood(texts) ? yield* restoreChild(work, texts.id, child) : notBelow(texts);
    children.push({ document_id, level: "child_chunk", ...nameOf(child), ...resultOf(landed) });
  }
  const end = restore.disable && isGood(texts) ? yield* disabling(work, restore, texts.id) : undefined;
  if (restore.texts === null && !restore.disable) return children;
  const result = end ? resultOfBoth(restore.texts === null ? undefined : texts, end) : resultOf(texts);
  const { chunk_id: id, position } = restore;
  return [{ document_id, level: "chunk", id, position, ...result }, ...children];
}

async function* textsOf(work: DocumentWork, restore: ChunkRestore): Landing {
  const { texts, target, children } = restore;
  if (texts) return yield* restoreTexts(work, restore, texts);
  if (!target) return { kind: "failed", id: null, reason: "the plan names no chunk of the target" };
  return children.length > 0 ? yield* checkParent(work, target) : { kind: "there", id: target.id };
}

async function* disabling(work: DocumentWork, { chunk_id, texts, target }: ChunkRestore, id: string): Landing {
  const said = texts ?? target;
  return said ? yield* disabled(work, chunk_id, id, said) : { kind: "there", id };
}

function isGood(landed: Landed): landed is Extract<Landed, { readonly kind: "done" | "there" }> {
  return landed.kind === "done" || landed.kind === "there";
}

function notBelow(parent: Landed): Landed {
  const reason = "reason" in parent ? parent.reason : "";
  return { kind: parent.kind === "changed" ? "changed" : "failed", id: null, reason: `its chunk: ${reason}` };
}

function nameOf({ child_id: id, position }: ChildRestore) {
  return { id, position };
}

type Result = Pick<AppliedRow, "outcome" | "target_id" | "reason">;

function resultOf(landed: Landed): Result {
  const reason = "reason" in landed ? landed.reason : null;
  return { outcome: outcomes[landed.kind], target_id: landed.id, reason };
}

/** If the texts are written but disabling fails for any reason, the chunk is still enabled. */
function resultOfBoth(texts: Landed | undefined, end: Landed): Result {
  if (isGood(end)) return resultOf(texts?.kind === "done" ? texts : end);
  if (texts === undefined && end.kind === "changed") return resultOf(end);
  return { ...resultOf(end), target_id: texts?.id ?? null, outcome: "still enabled" };
}

/** Writes the texts of one chunk: to its target, or as a new chunk after the last one. */
async function* restoreTexts(
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

/** A chunk that an earlier write added with these texts and that still needs repair: a touch may have changed its text slightly. */
function unindexedChunk({ options, place }: DocumentWork, texts: ChunkTexts): WrittenRow | undefined {
  return options.journal.unindexed.find(
    ({ document_id, is_added, texts_sha256 }) =>
      document_id === place.documentId && is_added && texts_sha256 === textsHash(texts),
  );
}

/**
 * The first of two requests, with the old text and the new keywords: a service with embeddings ignores the keywords of a request that
 * changes the text. It comes first, so that the target still has the planned text if the second request fails.
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

/** A repaired chunk counts as written. */
async function* mended(work: DocumentWork, chunk: UnindexedChunk): Landing {
  const landed = yield* mendChunk(work, chunk);
  return landed.kind === "there" ? { kind: "done", id: chunk.id, isIndexed: true, error: "" } : landed;
}

/** Checks a parent chunk that is not itself written, only its children. */
async function* checkParent(work: DocumentWork, target: TargetChunk): Landing {
  return yield* writeRow(work, async () => {
    const verdict = judgeTarget(await work.read(target.id), work.place.documentId, target, null);
    return verdict.kind === "changed" ? { ...verdict, id: null } : { kind: "there", id: target.id };
  });
}

/** Disables a chunk with these texts. The service refuses changes of a chunk for ten minutes after it was enabled. */
async function* disabled(work: DocumentWork, oldId: string, chunkId: string, texts: ChunkTexts): Landing {
  const landed = yield* writeRow(work, () => prepareDisabling(work, oldId, chunkId, texts));
  if (landed.kind !== "busy") return landed;
  const { enabled } = await work.read(chunkId);
  return enabled ? landed : { kind: "there", id: chunkId };
}

/** `lost`: the final texts, if another request follows this one. */
async function prepareUpdate(
  work: DocumentWork,
  oldId: string,
  target: TargetChunk,
  texts: ChunkTexts,
  lost = texts,
): ReturnType<Prepare> {
  const now = await work.read(target.id);
  const verdict = judgeTarget(now, work.place.documentId, target, lost);
  if (verdict.kind === "changed") return { ...verdict, id: null };
  if (verdict.kind === "there") return { kind: "there", id: target.id };
  return updateChunk(work, oldId, texts, now);
}

/** `known`: chunks with these texts when the plan was made. One more means that an add landed late or someone added it; it is used. */
async function prepareAdding(
  work: DocumentWork,
  old_id: string,
  texts: ChunkTexts,
  known: number,
): ReturnType<Prepare> {
  const hash = textsHash(texts);
  const equal = await work.equalTo(hash);
  const others = equal.filter((id) => !work.isOurs(id));
  const newest = others.at(-1);
  if (newest !== undefined && others.length > known) {
    await work.remember(hash, newest);
    return { kind: "there", id: newest };
  }
  return {
    facts: { write: "add chunks", old_id, texts_sha256: hash, keywords_sha256: keywordsHash(texts.keywords), equal },
    request: work.writer.addChunk(work.place, newChunk(texts, work.docForm)),
  };
}

async function prepareDisabling(
  work: DocumentWork,
  oldId: string,
  chunkId: string,
  texts: ChunkTexts,
): ReturnType<Prepare> {
  const now = await work.read(chunkId);
  if (now.document_id !== work.place.documentId || !haveSameTexts(now, texts)) {
    return {
      kind: "changed",
      id: chunkId,
      reason: `chunk ${chunkId} would get another text if it were disabled`,
    };
  }
  return now.enabled ? disableChunk(work, oldId, now) : { kind: "there", id: chunkId };
}

/** Writes one child chunk to a chunk of the target: replaces its twin, or adds it after the last one. */
async function* restoreChild(work: DocumentWork, chunkId: string, child: ChildRestore): Landing {
  return yield* writeRow(work, async () => {
    const children = await readChildren(work.options.api, work.place, chunkId);
    const row = { id: child.child_id, content: child.content };
    if (!child.twin) return addChild(work, chunkId, row, children);
    return judgeTwin(child, child.twin, children) ?? updateChild(work, chunkId, row, child.twin.id);
  });
}

/** Why a child does not replace its twin; undefined if it does. */
function judgeTwin(
  { content }: ChildRestore,
  twin: NonNullable<ChildRestore["twin"]>,
  children: readonly StandingChild[],
): Undecided | undefined {
  const now = children.find(({ id }) => id === twin.id);
  if (now?.content === content) return { kind: "there", id: twin.id };
  if (now?.content === twin.content) return undefined;
  const what = now ? "differs in text from the one that the plan was made for" : "is gone";
  return { kind: "changed", id: null, reason: `child chunk ${twin.id} ${what}` };
}

/** The state of a target chunk right before its change. `there`: it has the new texts. `same`: it is unchanged since the plan. */
type TargetVerdict = { readonly kind: "there" | "same" } | { readonly kind: "changed"; readonly reason: string };

/** Compares a chunk with the plan. Without new texts, only the planned texts of the target count. */
function judgeTarget(
  now: StandingChunk,
  documentId: string,
  target: TargetChunk,
  texts: ChunkTexts | null,
): TargetVerdict {
  if (now.document_id !== documentId) {
    return { kind: "changed", reason: `chunk ${now.id} does not belong to this document` };
  }
  if (texts && haveSameTexts(now, texts) && hasKeywords(now, texts)) return { kind: "there" };
  const differing = [
    ...(haveSameTexts(now, target) ? [] : ["text"]),
    ...(texts === null || isSameSet(now.keywords, target.keywords) ? [] : ["keywords"]),
    ...(texts === null || now.enabled === target.enabled ? [] : ["state"]),
  ];
  if (differing.length === 0) return { kind: "same" };
  return {
    kind: "changed",
    reason: `chunk ${now.id} differs in ${differing.join(" and ")} from the one that the plan was made for`,
  };
}

/** Whether a chunk has these keywords. Without keywords in the plan, any are fine, because the service chooses them. */
function hasKeywords(now: StandingChunk, { keywords }: ChunkTexts): boolean {
  return keywords === null || keywords.length === 0 || isSameSet(now.keywords, keywords);
}
