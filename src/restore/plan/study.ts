import type { ChunkRow, DocumentRows } from "../document-rows.js";
import { groupRows } from "../group-rows.js";
import type { DocumentHistory } from "./document-history.js";
import { type Hand, handOf, isWritable, latestIndexed, type Text, textKey } from "./hand.js";
import { findInside } from "./inside.js";
import { inOrder, type Pair, pairRows, placesOf } from "./pair-rows.js";

/** Everything that the decisions on a document rest on. Answers are null in documents that have none. */
export interface Study {
  /** The chunks of the older run, in order. */
  readonly olds: readonly ChunkRow[];
  readonly handOf: (old: ChunkRow) => Hand;
  readonly pairOf: (old: ChunkRow) => Pair<ChunkRow> | undefined;
  /** The chunk of the target that has the text before an edit. */
  readonly baseOf: (old: ChunkRow) => ChunkRow | undefined;
  /** The chunk of the target at the place of a lost one, by the neighbours of both. */
  readonly placeOf: (old: ChunkRow) => ChunkRow | undefined;
  /** Chunks of the target with the text of an old one. */
  readonly equalTo: (old: ChunkRow) => number;
  /** Whether the text of an old chunk without a pair stands inside a chunk of the target, as `findInside` counts. */
  readonly isInside: (old: ChunkRow) => boolean;
  /** No chunk kept its id. Elsewhere people alone changed the chunks, and a restore would undo what they meant. */
  readonly reindexed: boolean;
}

/** Compares a document of an older run with the target. */
export function studyDocument(old: DocumentRows, history: DocumentHistory, target: DocumentRows): Study {
  const form = old.doc_form ?? target.doc_form;
  const chunksOf = ({ chunks }: DocumentRows) => inOrder(chunks.map((chunk) => withAnswer(chunk, form)));
  const [olds, targets] = [chunksOf(old), chunksOf(target)];
  const latest = latestIndexed(olds);
  const hands = new Map(olds.map((each) => [each, handOf(each, history, latest)]));
  const pairs = pairRows(olds, targets, textKey);
  const reindexed = ![...pairs.of.values()].some(({ by }) => by === "id");
  const unpaired = reindexed ? olds.filter((each) => !pairs.of.has(each) && isWritable(each)) : [];
  const bases = pairBases(unpaired, pairs.free, (each) => hands.get(each)?.before ?? null);
  const overwritten = new Map([...bases].flatMap(([each, base]) => (base.enabled ? [[base, each]] : [])));
  const standIn = (each: ChunkRow) => pairs.of.get(each)?.row ?? bases.get(each);
  const places = placesOf(olds, targets, standIn);
  const groups = groupRows(targets, textKey);
  const lost = olds.filter((each) => standIn(each) === undefined);
  const isManual = (each: ChunkRow) => hands.get(each)?.origin !== "own" || hands.get(each)?.late === true;
  const inside = findInside({
    manual: lost.filter(isManual),
    automatic: lost.filter((each) => !isManual(each)),
    replaced: lost.flatMap((each) => hands.get(each)?.before ?? []),
    paired: olds.filter((each) => standIn(each) !== undefined),
    targets: targets.map((each) => overwritten.get(each) ?? each),
  });
  return {
    olds,
    handOf: (each) => hands.get(each) ?? handOf(each, history, latest),
    pairOf: (each) => pairs.of.get(each),
    baseOf: (each) => bases.get(each),
    placeOf: (each) => (reindexed ? places.get(each) : undefined),
    equalTo: (each) => groups.get(textKey(each))?.length ?? 0,
    isInside: (each) => inside.has(each),
    reindexed,
  };
}

function withAnswer(chunk: ChunkRow, form: string | null): ChunkRow {
  if (form === "qa_model") return { ...chunk, answer: chunk.answer ?? "" };
  return { ...chunk, answer: form === null ? chunk.answer || null : null };
}

/** Gives every edited chunk a chunk of the target that has the text before the edit, the k-th of equal ones the k-th; enabled ones first. */
function pairBases(
  olds: readonly ChunkRow[],
  free: readonly ChunkRow[],
  beforeOf: (old: ChunkRow) => Text | null,
): ReadonlyMap<ChunkRow, ChunkRow> {
  const enabledFirst = free.toSorted((one, other) => Number(other.enabled) - Number(one.enabled));
  const waiting = groupRows(enabledFirst, textKey);
  const bases = new Map<ChunkRow, ChunkRow>();
  for (const old of olds) {
    const before = beforeOf(old);
    const base = before ? waiting.get(textKey(before))?.shift() : undefined;
    if (base) bases.set(old, base);
  }
  return bases;
}
