import fc from "fast-check";
import { expect, it } from "vitest";
import type { ChunkRow } from "../../../src/compare/document-rows.js";
import type { DocumentPlan } from "../../../src/compare/lost/restore-plan.js";
import { rounds } from "../../rounds.js";
import { planAll } from "./planned.js";
import { child, chunk, document, type MadeDocument } from "./rows.js";

/** When the first and the second indexing completed, in Unix seconds. */
const [first, second] = [2_000, 5_000];

const works = ["nothing", "edit", "say the same", "disable", "edit and disable", "delete"] as const;
type Work = (typeof works)[number];
/** One edit by a person. Most chunks get none, so that edits have unchanged neighbours. */
const anyWork = fc.oneof(
  { weight: 3, arbitrary: fc.constant("nothing" as const) },
  { weight: 2, arbitrary: fc.constantFrom(...works) },
);
const anyWorks = fc.array(anyWork, { minLength: 12, maxLength: 12 });
/** The chunks that a person adds at the end. `true`: the person then disables the chunk. */
const additions = fc.array(fc.boolean(), { maxLength: 3 });

/** A document with manual edits before its first backup, which is then indexed again and edited again. */
const stories = fc.record({
  source: fc.array(fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), { minLength: 1, maxLength: 12 }),
  sizes: fc.oneof(
    fc.constantFrom([1, 1] as const, [2, 2] as const),
    fc.constantFrom([1, 2] as const, [2, 1] as const, [2, 3] as const),
  ),
  /** Whether the second indexing used the same file. */
  sameFile: fc.nat({ max: 5 }).map((number) => number > 0),
  before: anyWorks,
  after: anyWorks,
  added: additions,
  addedSince: additions,
  /** Whether a chunk gets a manual child chunk. */
  kids: fc.array(
    fc.nat({ max: 3 }).map((number) => number === 0),
    { minLength: 16, maxLength: 16 },
  ),
});
type Story = typeof stories extends fc.Arbitrary<infer Value> ? Value : never;

interface Told {
  readonly old: MadeDocument;
  readonly target: MadeDocument;
}

function told({ source, sizes, sameFile, before, after, added, addedSince, kids }: Story): Told {
  const indexed = (letter: string, size: number, created_at: number) =>
    Array.from({ length: Math.ceil(source.length / size) }, (_, at) =>
      chunk(`${letter}${at + 1}`, source.slice(at * size, (at + 1) * size).join(" "), { created_at }),
    );
  const work = (
    name: string,
    chunks: readonly ChunkRow[],
    done: readonly Work[],
    more: readonly boolean[],
    now: number,
  ) => [
    ...chunks.flatMap((each, at) => worked(each, done[at] ?? "nothing", name)),
    ...more.map((isDisabled, at) =>
      chunk(`${name}${50 + at}`, `<${name} adds ${at}>`, { created_at: now, ...(isDisabled ? off(name) : {}) }),
    ),
  ];
  const olds = work("ann", indexed("c", sizes[0], first - 1), before, added, first + 1);
  const news = work("bob", indexed("t", sizes[1], second), after, addedSince, second + 1);
  const children = olds.flatMap(({ id }, at) => (kids[at] ? [child(id, `k${at}`, `<child ${at}>`, "customized")] : []));
  return {
    old: document(olds, children, "hierarchical_model", { source: "file 1", indexed_at: first }),
    target: document(news, [], "hierarchical_model", { source: sameFile ? "file 1" : "file 2", indexed_at: second }),
  };
}

const off = (name: string) => ({ enabled: false, disabled_by: name });

function worked(row: ChunkRow, work: Work, name: string): readonly ChunkRow[] {
  const edited = { ...row, content: `<${name} on ${row.id}>`, updated_by: name };
  switch (work) {
    case "nothing":
      return [row];
    case "edit":
      return [edited];
    case "say the same":
      return [{ ...edited, content: `<${name}>` }];
    case "disable":
      return [{ ...row, ...off(name) }];
    case "edit and disable":
      return [{ ...edited, ...off(name) }];
    case "delete":
      return [];
  }
}

/** The expected result for the rows of a document, found by definition and brute force. */
interface Expected {
  readonly lost: number;
  readonly manual_edits: number;
  /** Each restored row and its target: over a chunk, below a chunk, or as a new chunk. */
  readonly restored: readonly string[];
  /** The ids of the other manual edits. */
  readonly listed: readonly string[];
}

function expectedOf({ old, target }: Told): Expected {
  const pairs = new Map<ChunkRow, ChunkRow>();
  const many = (rows: readonly ChunkRow[], { content }: ChunkRow) => rows.filter((r) => r.content === content).length;
  const isPlaced = (one: ChunkRow, now: ChunkRow) =>
    one.position === now.position && many(old.chunks, one) !== many(target.chunks, one);
  for (const isThere of [isPlaced, () => true])
    for (const each of old.chunks) {
      const isEqual = (now: ChunkRow) => now.content === each.content && isThere(each, now);
      const pair = target.chunks.find((now) => isEqual(now) && ![...pairs.values()].includes(now));
      if (pair && !pairs.has(each)) pairs.set(each, pair);
    }
  const [oldTime, newTime] = [timeOf(old), timeOf(target)];
  const byIndexing = ({ chunks }: MadeDocument, time: number | null) =>
    chunks.filter(({ created_at }) => time !== null && (created_at ?? 0) <= time);
  const [olds, news] = [byIndexing(old, oldTime), byIndexing(target, newTime)];
  const isSame = old.source === target.source && oldTime !== null && newTime !== null;
  const placeOf = (each: ChunkRow) =>
    news.find((now, nth) => {
      const at = olds.indexOf(each);
      const isNext = (side: -1 | 1) => {
        const [one, other] = [olds[at + side], news[nth + side]];
        return one === undefined ? other === undefined : other !== undefined && pairs.get(one) === other;
      };
      const isFree = ![...pairs.values()].includes(now) && now.updated_by === null && now.disabled_by === null;
      return isSame && at >= 0 && isFree && now.position === each.position && isNext(-1) && isNext(1);
    });
  const expected = { lost: 0, manual_edits: 0, restored: [] as string[], listed: [] as string[] };
  const settle = (id: string, isManual: boolean, home: string | undefined) => {
    expected.lost++;
    if (isManual) expected.manual_edits++;
    if (home !== undefined) expected.restored.push(`${id} ${home}`);
    else if (isManual) expected.listed.push(id);
  };
  for (const each of old.chunks) {
    const pair = pairs.get(each);
    const isAdded = oldTime !== null && (each.created_at ?? 0) > oldTime;
    const isDisabled = !each.enabled;
    const place = !pair && each.updated_by !== null && !isAdded ? placeOf(each) : undefined;
    const home = pair?.id ?? place?.id ?? (isAdded ? "new" : undefined);
    const then = isDisabled ? ", disabled" : "";
    if (!pair) settle(each.id, isAdded || isDisabled || each.updated_by !== null, home && `text ${home}${then}`);
    else if (isDisabled && pair.enabled) settle(each.id, true, `${home}${then}`);
    for (const kid of old.children.filter(({ segment_id }) => segment_id === each.id))
      settle(kid.id, true, home !== undefined ? `below ${home}` : undefined);
  }
  return expected;
}

/** The time at which the indexing completed; null if most chunks are newer, so that the clock must be wrong. */
function timeOf({ chunks, indexed_at }: MadeDocument): number | null {
  const younger = chunks.filter(({ created_at }) => (created_at ?? 0) > (indexed_at ?? 0)).length;
  return younger * 2 <= chunks.length ? indexed_at : null;
}

/** The decisions of a plan on the rows, in the form of `Expected`. */
function foundIn(plan: DocumentPlan | undefined): Expected {
  if (!plan) return { lost: 0, manual_edits: 0, restored: [], listed: [] };
  const { lost, manual_edits, restores, listed } = plan;
  const restored = restores.flatMap(({ chunk_id, target, texts, disable, children }) => {
    const home = target?.id ?? "new";
    return [
      ...(texts || disable ? [`${chunk_id} ${texts ? "text " : ""}${home}${disable ? ", disabled" : ""}`] : []),
      ...children.map(({ child_id }) => `${child_id} below ${home}`),
    ];
  });
  return { lost, manual_edits, restored: restored.sort(), listed: listed.map(({ id }) => id).sort() };
}

/** Checks that the plan overwrites no text that a person edited after the re-index. */
function checkUntouched(plan: DocumentPlan | undefined, target: readonly ChunkRow[]): void {
  for (const { texts, target: home } of plan?.restores ?? []) {
    const now = target.find(({ id }) => id === home?.id);
    if (texts && now)
      expect(now).toMatchObject({ enabled: true, updated_by: null, disabled_by: null, created_at: second });
  }
}

it("restores, from a first backup, the edits whose place is known, and lists every other one once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stories, { minLength: 80, maxLength: 80 }), async (all) => {
      const documents = all.map(told);
      const plans = await planAll(documents);
      for (const [at, each] of documents.entries()) {
        const { restored, listed, ...counts } = expectedOf(each);
        const expected = { ...counts, restored: restored.toSorted(), listed: listed.toSorted() };
        expect([all[at], foundIn(plans[at])]).toEqual([all[at], expected]);
        checkUntouched(plans[at], each.target.chunks);
      }
    }),
    { numRuns: rounds(1, 60, "KBDUMP_FIRST_BACKUP"), endOnFailure: true },
  );
}, 600_000);

/** The random stories must contain these cases often enough; otherwise rules would stay untested. */
it("tells stories in which edits come back, are added, and need a decision", () => {
  const expected = fc.sample(stories, { numRuns: 300, seed: 7 }).map((story) => expectedOf(told(story)));
  const restored = expected.flatMap((each) => each.restored);
  for (const what of [/text t/, /text new/, /^c\d+ t/, /below t/, /below new/])
    expect(restored.filter((line) => what.test(line)).length).toBeGreaterThan(20);
  expect(expected.flatMap(({ listed }) => listed).length).toBeGreaterThan(100);
});
