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
  /** The times of both indexings; null unless the later one took the same file and the same process rule. */
  readonly indexed: Indexed | null;
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
  const indexedAt = indexedAtOf(old);
  const edits = new Map(olds.map((each) => [each, editsOf(each, history, indexedAt)]));
  const pairs = pairRows(olds, targets, textKey);
  const reindexed = ![...pairs.of.values()].some(({ by }) => by === "id");
  const unpaired = reindexed ? olds.filter((each) => !pairs.of.has(each) && isWritable(each)) : [];
  const indexed = sameIndexing(old, target);
  const neighbours = indexed ? placesByNeighbours(olds, targets, (each) => pairs.of.get(each)?.row, indexed) : noPlaces;
  const byNeighbours = new Map(
    unpaired.flatMap((each) => {
      const place = edits.get(each)?.origin === "unknown" ? neighbours.get(each) : undefined;
      return place && isUntouched(place) && isSameQuestion(each, place, form) ? [[each, place] as const] : [];
    }),
  );
  const taken = new Set(byNeighbours.values());
  const free = pairs.free.filter((each) => !taken.has(each));
  const known = pairBases(unpaired, free, (each) => edits.get(each)?.before ?? null);
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
    editsOf: (each) => edits.get(each) ?? editsOf(each, history, indexedAt),
    pairOf: (each) => pairs.of.get(each),
    baseOf: (each) => bases.get(each),
    isPlacedByNeighbours: (each) => byNeighbours.has(each),
    indexed,
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

/** When the indexing of a document was completed before and after, in Unix seconds. */
interface Indexed {
  readonly old: number;
  readonly target: number;
}

const noPlaces: ReadonlyMap<ChunkRow, ChunkRow> = new Map();

/**
 * When the indexing of a document was completed; null if its details do not say. The service takes this time from another clock than that
 * of the chunks, so it counts only if at least half of the chunks are not younger.
 */
function indexedAtOf({ indexed_at: at, chunks }: DocumentRows): number | null {
  if (at === null) return null;
  const isYounger = ({ created_at }: ChunkRow) => created_at !== null && created_at > at;
  return chunks.filter(isYounger).length * 2 <= chunks.length ? at : null;
}

/** The times of both indexings if the later one took the same file and the same process rule; null otherwise. */
function sameIndexing(old: DocumentRows, target: DocumentRows): Indexed | null {
  const times = { old: indexedAtOf(old), target: indexedAtOf(target) };
  if (old.source === null || old.source !== target.source || times.old === null || times.target === null) return null;
  return times.target > times.old ? { old: times.old, target: times.target } : null;
}

/** Whether no person has worked on a chunk, and an edit can be written to it. */
function isUntouched({ updated_by, disabled_by, enabled, status }: ChunkRow): boolean {
  return updated_by === null && disabled_by === null && enabled && (status === null || status === "completed");
}

/** A model that makes the questions may make others at the next indexing. */
function isSameQuestion(old: ChunkRow, place: ChunkRow, form: string | null): boolean {
  return form !== "qa_model" || old.content === place.content;
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

/**
 * The row of the target between the same neighbours, among the rows that the indexing made on both sides: the only one there, at the same
 * position. Rows that people added do not count, so that those that a restore has added change nothing.
 */
export function placesByNeighbours<Row extends Positioned & { readonly created_at: number | null }>(
  olds: readonly Row[],
  targets: readonly Row[],
  pairOf: (old: Row) => Row | undefined,
  indexed: Indexed,
): ReadonlyMap<Row, Row> {
  const isBefore = (at: number) => (row: Row) => row.created_at !== null && row.created_at <= at;
  const gaps = gapsOf(olds.filter(isBefore(indexed.old)), targets.filter(isBefore(indexed.target)), pairOf);
  return new Map(
    [...gaps].flatMap(([old, [place, ...others]]) => {
      const isSame = place !== undefined && others.length === 0 && place.position !== null;
      return isSame && place.position === old.position ? [[old, place] as const] : [];
    }),
  );
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
