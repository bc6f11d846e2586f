import { type ChunkRow, type DocumentRows, groupRows } from "../document-rows.js";
import type { DocumentHistory } from "./evidence.js";
import { editsOf, isBlank, isWritable, type ManualEdits, type Text, textKey } from "./manual-edits.js";

/** Everything that the decisions on a document rest on. Answers are null in documents that have none. */
export interface DocumentComparison {
  /** The chunks of the older run, in order. */
  readonly olds: readonly ChunkRow[];
  readonly editsOf: (old: ChunkRow) => ManualEdits;
  readonly pairOf: (old: ChunkRow) => Pair<ChunkRow> | undefined;
  /** The chunk of the target that has the text before an edit, as the history or its neighbours tell. */
  readonly baseOf: (old: ChunkRow) => ChunkRow | undefined;
  /** Whether `baseOf` goes by the neighbours. */
  readonly isPlacedByNeighbours: (old: ChunkRow) => boolean;
  /** When the older document was indexed, in Unix seconds; null unless both were made of the same file by the same process rule. */
  readonly indexedAt: number | null;
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
export function compareWithTarget(
  old: DocumentRows,
  history: DocumentHistory,
  target: DocumentRows,
): DocumentComparison {
  const form = old.doc_form ?? target.doc_form;
  const chunksOf = ({ chunks }: DocumentRows) => inOrder(chunks.map((chunk) => withAnswer(chunk, form)));
  const [olds, targets] = [chunksOf(old), chunksOf(target)];
  const edits = new Map(olds.map((each) => [each, editsOf(each, history, old.indexed_at)]));
  const pairs = pairRows(olds, targets, textKey);
  const reindexed = ![...pairs.of.values()].some(({ by }) => by === "id");
  const unpaired = reindexed ? olds.filter((each) => !pairs.of.has(each) && isWritable(each)) : [];
  const isSameSource = old.source !== null && old.source === target.source;
  const known = pairBases(unpaired, pairs.free, (each) => edits.get(each)?.before ?? null);
  const isFree = (each: ChunkRow) => !known.has(each) && edits.get(each)?.origin === "unknown";
  const beside = isSameSource ? placesBeside(olds, targets, (each) => pairs.of.get(each)?.row) : new Map();
  const byNeighbours = new Map(
    unpaired.filter(isFree).flatMap((each) => {
      const place = beside.get(each);
      return place && isSafePlace(each, place, old.indexed_at) ? [[each, place] as const] : [];
    }),
  );
  const bases = new Map([...known, ...byNeighbours]);
  const overwritten = new Map([...bases].flatMap(([each, base]) => (base.enabled ? [[base, each]] : [])));
  const standIn = (each: ChunkRow) => pairs.of.get(each)?.row ?? bases.get(each);
  const places = placesOf(olds, targets, standIn);
  const groups = groupRows(targets, textKey);
  const lost = olds.filter((each) => standIn(each) === undefined);
  const isManual = (each: ChunkRow) => edits.get(each)?.origin !== "own";
  const inside = findInside({
    manual: lost.filter(isManual),
    automatic: lost.filter((each) => !isManual(each)),
    replaced: lost.flatMap((each) => edits.get(each)?.before ?? []),
    paired: olds.filter((each) => standIn(each) !== undefined),
    targets: targets.map((each) => overwritten.get(each) ?? each),
  });
  return {
    olds,
    editsOf: (each) => edits.get(each) ?? editsOf(each, history, old.indexed_at),
    pairOf: (each) => pairs.of.get(each),
    baseOf: (each) => bases.get(each),
    isPlacedByNeighbours: (each) => byNeighbours.has(each),
    indexedAt: isSameSource ? old.indexed_at : null,
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

/**
 * Whether the chunk between the same neighbours has the text that an edit replaced: the indexing made the edited chunk, both have the
 * same position, and no person has edited or disabled the new one.
 */
function isSafePlace(old: ChunkRow, place: ChunkRow, indexedAt: number | null): boolean {
  return isOfIndexing(old, place, indexedAt) && place.updated_by === null && place.disabled_by === null;
}

/** Whether the indexing made the old row, and the other one has its position. */
export function isOfIndexing(
  old: Pick<ChunkRow, "position" | "created_at">,
  { position }: Pick<ChunkRow, "position">,
  indexedAt: number | null,
): boolean {
  const isIndexed = indexedAt !== null && old.created_at !== null && old.created_at <= indexedAt;
  return isIndexed && old.position !== null && old.position === position;
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

/** A row and its place. */
interface Positioned {
  readonly id: string;
  readonly position: number | null;
}

interface Pair<Row> {
  readonly row: Row;
  readonly by: "id" | "text";
}

/** The pairs of the rows of an older run with those of the target. */
interface Pairs<Row> {
  readonly of: ReadonlyMap<Row, Pair<Row>>;
  /** The rows of the target that have no pair, in their order. */
  readonly free: readonly Row[];
}

/** Rows in the order in which they stand: of their positions, which may collide or be absent, then of their ids. */
export function inOrder<Row extends Positioned>(rows: readonly Row[]): readonly Row[] {
  const place = ({ position }: Row) => position ?? Number.POSITIVE_INFINITY;
  const isBefore = (one: Row, other: Row) =>
    place(one) === place(other) ? one.id < other.id : place(one) < place(other);
  return rows.toSorted((one, other) => (isBefore(one, other) ? -1 : isBefore(other, one) ? 1 : 0));
}

/**
 * Pairs rows by id; what is left by text, the k-th of equal ones with the k-th. Both lists are in order. Positions alone pair
 * nothing: a row at the same place may be another one.
 */
export function pairRows<Row extends Positioned>(
  olds: readonly Row[],
  targets: readonly Row[],
  textOf: (row: Row) => string,
): Pairs<Row> {
  const of = new Map<Row, Pair<Row>>();
  const used = new Set<Row>();
  for (const by of ["id", "text"] as const) {
    const keyOf = by === "id" ? ({ id }: Row) => id : textOf;
    const waiting = groupRows(
      targets.filter((row) => !used.has(row)),
      keyOf,
    );
    for (const old of olds) {
      const row = of.has(old) ? undefined : waiting.get(keyOf(old))?.shift();
      if (!row) continue;
      of.set(old, { row, by });
      used.add(row);
    }
  }
  return { of, free: targets.filter((row) => !used.has(row)) };
}

/**
 * The row of the target that stands at the place of an old row: the only one without a pair between the pairs of its neighbours,
 * if the old row is the only one without a pair between them, too. Both lists are in order; a border counts as a pair.
 */
function placesOf<Row>(
  olds: readonly Row[],
  targets: readonly Row[],
  pairOf: (old: Row) => Row | undefined,
): ReadonlyMap<Row, Row> {
  const paired = new Set(olds.map(pairOf));
  return new Map(
    [...gapsOf(olds, targets, pairOf)].flatMap(([old, gap]) => {
      const [place, ...others] = gap.filter((row) => !paired.has(row));
      return place !== undefined && others.length === 0 ? [[old, place] as const] : [];
    }),
  );
}

/** The same, and nothing else may stand between the pairs of the neighbours. */
export function placesBeside<Row>(...given: Parameters<typeof placesOf<Row>>): ReadonlyMap<Row, Row> {
  const places = placesOf(...given);
  const gaps = gapsOf(...given);
  return new Map([...places].filter(([old]) => gaps.get(old)?.length === 1));
}

/** What stands between the pairs of the neighbours of every old row that has no pair, where both neighbours have one. */
function gapsOf<Row>(
  olds: readonly Row[],
  targets: readonly Row[],
  pairOf: (old: Row) => Row | undefined,
): ReadonlyMap<Row, readonly Row[]> {
  const indexes = new Map(targets.map((row, index) => [row, index]));
  const indexOf = (old: Row | undefined, border: number) => {
    if (old === undefined) return border;
    const pair = pairOf(old);
    return pair === undefined ? undefined : indexes.get(pair);
  };
  const gaps = new Map<Row, readonly Row[]>();
  for (const [at, old] of olds.entries()) {
    if (pairOf(old) !== undefined) continue;
    const before = indexOf(at === 0 ? undefined : olds[at - 1], -1);
    const after = indexOf(olds[at + 1], targets.length);
    if (before === undefined || after === undefined) continue;
    gaps.set(old, targets.slice(before + 1, Math.max(before + 1, after)));
  }
  return gaps;
}

/** Characters of a window. A text of twice as many has a whole window of any text that it stands inside. */
const size = 64;

interface InsideOptions<T extends Text> {
  /** Texts of people that have no chunk of the target. */
  readonly manual: readonly T[];
  /** Texts of the indexing that have no chunk of the target. */
  readonly automatic: readonly T[];
  /** Texts of the indexing that people replaced, and that have no chunk of the target either. */
  readonly replaced: readonly Text[];
  /** Texts of the older run that have a chunk of the target. */
  readonly paired: readonly Text[];
  /** The texts of the target, as they will be after the edits are restored. */
  readonly targets: readonly Text[];
}

/**
 * Finds the lost texts inside chunks of the target: the content inside the content, the answer inside the answer. A text is found only
 * if the target has it more often than the rest of the older run. So a text that a person added is lost even if the source says the
 * same, in a chunk that did not change or that was cut at other places, and a restore that continues an earlier one finds the same texts
 * lost. A blank text is never found.
 */
export function findInside<T extends Text>(options: InsideOptions<T>): ReadonlySet<T> {
  const { manual, automatic, replaced, paired, targets } = options;
  const now = new TextIndex(targets);
  const foundIn = (lost: readonly T[], rest: readonly Text[]) => {
    const before = new TextIndex(rest);
    return lost
      .toSorted((one, other) => lengthOf(other) - lengthOf(one))
      .filter((text) => {
        const isFound = !isBlank(text.content) && now.count(text) > before.count(text);
        if (isFound) before.add(text);
        return isFound;
      });
  };
  const ofIndexing = foundIn(automatic, paired);
  return new Set([...ofIndexing, ...foundIn(manual, [...paired, ...automatic, ...replaced])]);
}

function lengthOf({ content, answer }: Text): number {
  return content.length + (answer ?? "").length;
}

/** Counts how often a text stands inside some texts. Long contents are looked up by windows: comparing all texts with all would take too long. */
class TextIndex {
  readonly #texts: Text[] = [];
  readonly #windows = new Map<string, Set<Text>>();

  constructor(texts: readonly Text[]) {
    for (const text of texts) this.add(text);
  }

  add(text: Text): void {
    this.#texts.push(text);
    const { content } = text;
    for (let at = 0; at + size <= content.length; at += size) {
      const window = content.slice(at, at + size);
      const known = this.#windows.get(window);
      if (known) known.add(text);
      else this.#windows.set(window, new Set([text]));
    }
  }

  count(text: Text): number {
    let count = 0;
    for (const whole of this.#candidates(text.content)) count += timesInside(text, whole);
    return count;
  }

  #candidates(content: string): Iterable<Text> {
    if (content.length < 2 * size) return this.#texts;
    const candidates = new Set<Text>();
    for (let at = 0; at < size; at++)
      for (const whole of this.#windows.get(content.slice(at, at + size)) ?? []) candidates.add(whole);
    return candidates;
  }
}

function timesInside({ content, answer }: Text, whole: Text): number {
  let times = 0;
  for (let at = whole.content.indexOf(content); at >= 0; at = whole.content.indexOf(content, at + content.length))
    times++;
  return times > 0 && (whole.answer ?? "").includes(answer ?? "") ? times : 0;
}
