import { groupRows } from "../group-rows.js";

/** A row and its place. */
interface Placed {
  readonly id: string;
  readonly position: number | null;
}

export interface Pair<Row> {
  readonly row: Row;
  readonly by: "id" | "text";
}

/** The pairs of the rows of an older run with those of the target. */
export interface Pairs<Row> {
  readonly of: ReadonlyMap<Row, Pair<Row>>;
  /** The rows of the target that have no pair, in their order. */
  readonly free: readonly Row[];
}

/** Rows in the order in which they stand: of their positions, which may collide or be absent, then of their ids. */
export function inOrder<Row extends Placed>(rows: readonly Row[]): readonly Row[] {
  const place = ({ position }: Row) => position ?? Number.POSITIVE_INFINITY;
  const isBefore = (one: Row, other: Row) =>
    place(one) === place(other) ? one.id < other.id : place(one) < place(other);
  return rows.toSorted((one, other) => (isBefore(one, other) ? -1 : isBefore(other, one) ? 1 : 0));
}

/**
 * Pairs rows by id; what is left by text, the k-th of equal ones with the k-th. Both lists are in order. Positions alone pair
 * nothing: a row at the same place may be another one.
 */
export function pairRows<Row extends Placed>(
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
export function placesOf<Row>(
  olds: readonly Row[],
  targets: readonly Row[],
  pairOf: (old: Row) => Row | undefined,
): ReadonlyMap<Row, Row> {
  const indexes = new Map(targets.map((row, index) => [row, index]));
  const paired = new Set(olds.map(pairOf));
  const indexOf = (old: Row | undefined, border: number) => {
    if (old === undefined) return border;
    const pair = pairOf(old);
    return pair === undefined ? undefined : indexes.get(pair);
  };
  const places = new Map<Row, Row>();
  for (const [at, old] of olds.entries()) {
    if (pairOf(old) !== undefined) continue;
    const before = indexOf(at === 0 ? undefined : olds[at - 1], -1);
    const after = indexOf(olds[at + 1], targets.length);
    if (before === undefined || after === undefined) continue;
    const [place, ...others] = targets.slice(before + 1, Math.max(before + 1, after)).filter((row) => !paired.has(row));
    if (place !== undefined && others.length === 0) places.set(old, place);
  }
  return places;
}
