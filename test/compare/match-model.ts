/** The fields of a row that the rule uses. */
export interface MatchRow {
  readonly document_id: string;
  readonly segment_id?: string;
  readonly id: string;
  readonly position: number | null;
  readonly content: string | null;
  readonly answer?: string | null;
}

export interface Match {
  readonly before: MatchRow | undefined;
  readonly after: MatchRow | undefined;
  readonly by: "id" | "content" | "position" | null;
}

type Text = string | number | null;

const compare = (left: Text, right: Text): number => {
  if (left === right) return 0;
  if (left === null || right === null) return left === null ? 1 : -1;
  if (typeof left === "string" && typeof right === "string")
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return left < right ? -1 : 1;
};

export const contentOf = ({ content, answer }: MatchRow) => JSON.stringify([content, answer ?? null]);

/** A simple version of the matching rule, for one document or for the children of one pair of parents. */
export function matchModel(before: readonly MatchRow[], after: readonly MatchRow[]): readonly Match[] {
  const matches: Match[] = [];
  const left = { before: [...before], after: [...after] };
  const pairEqual = (
    by: "id" | "content" | "position",
    key: (row: MatchRow) => Text,
    order: readonly (keyof MatchRow)[],
  ) => {
    const sort = (rows: MatchRow[]) =>
      rows.sort(
        (a, b) => order.map((name) => compare(a[name] ?? null, b[name] ?? null)).find((sign) => sign !== 0) ?? 0,
      );
    const rest: MatchRow[] = [];
    const candidates = sort(left.after);
    for (const row of sort(left.before)) {
      const wanted = key(row);
      const at = wanted === null ? -1 : candidates.findIndex((each) => key(each) === wanted);
      const [found] = at < 0 ? [] : candidates.splice(at, 1);
      if (found) matches.push({ before: row, after: found, by });
      else rest.push(row);
    }
    left.before = rest;
  };
  pairEqual("id", ({ id }) => id, ["position"]);
  const many = (rows: readonly MatchRow[], row: MatchRow) => rows.filter((r) => contentOf(r) === contentOf(row)).length;
  const [olds, news] = [[...left.before], [...left.after]];
  const placed = (row: MatchRow) =>
    row.position === null || many(olds, row) === many(news, row)
      ? null
      : JSON.stringify([contentOf(row), row.position]);
  pairEqual("content", placed, ["id"]);
  pairEqual("content", contentOf, ["position", "id"]);
  pairEqual("position", ({ position }) => position, ["id"]);
  for (const row of left.before) matches.push({ before: row, after: undefined, by: null });
  for (const row of left.after) matches.push({ before: undefined, after: row, by: null });
  return matches;
}

/** Applies the rule to whole dumps: document by document, then the children of each pair of parents. */
export function matchDumps(
  before: { readonly chunks: readonly MatchRow[]; readonly children: readonly MatchRow[] },
  after: { readonly chunks: readonly MatchRow[]; readonly children: readonly MatchRow[] },
): { readonly chunks: readonly Match[]; readonly children: readonly Match[] } {
  const documents = new Set([...before.chunks, ...after.chunks].map(({ document_id }) => document_id));
  const of = (rows: readonly MatchRow[], document: string) =>
    rows.filter(({ document_id }) => document_id === document);
  const chunks = [...documents].flatMap((id) => matchModel(of(before.chunks, id), of(after.chunks, id)));
  const below = (rows: readonly MatchRow[], parent: MatchRow | undefined) =>
    rows.filter(({ document_id, segment_id }) => document_id === parent?.document_id && segment_id === parent.id);
  const children = chunks.flatMap((pair) =>
    matchModel(below(before.children, pair.before), below(after.children, pair.after)),
  );
  return { chunks, children };
}
