import fc from "fast-check";
import {
  type ChangedKind,
  type ChangeFacts,
  changedKinds,
  type FreshnessFacts,
  type HitFacts,
  type IndexingFacts,
  type LengthFacts,
  type Lengths,
  positionsOfDocument,
  type ReadState,
} from "../../../src/report/report-facts.js";
import { hostileTexts } from "./hostile-texts.js";

const count = fc.oneof(fc.nat(3), fc.nat(1000), fc.nat(2_000_000_000));
const time = fc.oneof(
  fc.integer({ min: Date.UTC(2026, 10, 19), max: Date.UTC(2026, 10, 20) }),
  fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2100, 0) }),
  fc.integer({ min: -8.64e15, max: 8.64e15 }),
);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const text = fc.constantFrom(
  ...hostileTexts.map((each) => each.slice(0, 400)),
  "Handbook",
  "دليل المحاسبة",
  "安全须知.md",
);
const named = { dataset_id: text, document_id: text, dataset_name: maybe(text), document_name: maybe(text) };
const list = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { maxLength: 45, size: "max" });
const cut = <Row>(row: fc.Arbitrary<Row>) =>
  fc
    .record({ rows: list(row), more: count })
    .map(({ rows, more }) => ({ rows, total: rows.length + more, query: null }));

const readStates = fc.record<Record<ReadState, number>>({
  fresh: count,
  stale: count,
  unstable: count,
  "never read": count,
  "not in this run": count,
});

/** Adjoining spans, some of them empty, as many as a report has. */
const spans = fc
  .record({
    from: time,
    steps: fc.array(fc.nat(1e10), { maxLength: 48 }),
    documents: fc.array(readStates, { minLength: 48, maxLength: 48 }),
  })
  .map(({ from, steps, documents }) => {
    let end = Math.min(from, 8e15);
    return steps.flatMap((step, at) => {
      const [begin, counted] = [end, documents[at]];
      end += step;
      return counted ? [{ from: begin, to: end, documents: counted }] : [];
    });
  });

export const randomFreshness: fc.Arbitrary<FreshnessFacts> = fc.record({
  as_of: time,
  states: readStates,
  spans,
  documents: cut(
    fc.record({
      ...named,
      state: fc.constantFrom<ReadState>("fresh", "stale", "unstable", "never read", "not in this run"),
      read_well_at: maybe(time),
      changed_at: maybe(time),
      chunks: count,
    }),
  ),
  has_history: fc.boolean(),
});

const lengths: fc.Arbitrary<Lengths> = fc
  .record({ five: fc.array(count, { minLength: 5, maxLength: 5 }), chunks: count, characters: count, tokens: count })
  .map(({ five, ...counts }) => {
    const [shortest = 0, quartile_1 = 0, median = 0, quartile_3 = 0, longest = 0] = five.sort((a, b) => a - b);
    return { ...counts, shortest, quartile_1, median, quartile_3, longest };
  });

export const randomLengths: fc.Arbitrary<LengthFacts> = fc.record({
  all: fc.option(lengths, { nil: undefined }),
  documents: cut(fc.record(named).chain((names) => lengths.map((each) => ({ ...names, ...each })))),
});

export const randomIndexing: fc.Arbitrary<IndexingFacts> = fc.record({
  was_asked: fc.boolean(),
  unread_batches: fc.nat(3),
  states: list(fc.record({ status: fc.constantFrom("completed", "indexing", "error", ""), documents: count })),
  documents: cut(
    fc.record({
      ...named,
      batch: text,
      indexing_status: fc.oneof(fc.constantFrom("completed", "indexing", "error", "waiting", "paused"), text),
      started_at: maybe(time),
      parsed_at: maybe(time),
      cleaned_at: maybe(time),
      split_at: maybe(time),
      completed_at: maybe(time),
      paused_at: maybe(time),
      stopped_at: maybe(time),
      captured_at: time,
      unmoved: maybe(count),
      completed_segments: maybe(count),
      total_segments: maybe(count),
      error: maybe(text),
    }),
  ),
  listed: cut(fc.record({ ...named, indexing_status: maybe(text), display_status: maybe(text), chunks: count })),
  chunks: list(fc.record({ status: text, chunks: count, documents: count })),
});

const changeCounts = fc
  .array(count, { minLength: changedKinds.length, maxLength: changedKinds.length })
  .map(
    (counts) => Object.fromEntries(changedKinds.map((kind, at) => [kind, counts[at]])) as Record<ChangedKind, number>,
  );

export const randomChanges: fc.Arbitrary<ChangeFacts> = fc.record({
  runs: fc.array(
    fc.record({ run_id: text, started_at: time, status: text, chunks: count, counts: maybe(changeCounts) }),
    { maxLength: 40, size: "max" },
  ),
  total: count,
  query: fc.constant(null),
  reason: maybe(text),
});

const place = fc
  .tuple(count, fc.nat(100))
  .map(([enabled, share]) => ({ enabled, never: Math.floor((enabled * share) / 100) }));
const hitCounts = { enabled: count, never: count, hits: count };

export const randomHits: fc.Arbitrary<HitFacts> = fc.record({
  ...hitCounts,
  has_history: fc.boolean(),
  documents: cut(
    fc.record({
      ...named,
      ...hitCounts,
      places: fc.array(place, { minLength: positionsOfDocument, maxLength: positionsOfDocument }),
    }),
  ),
  chunks: cut(
    fc.record({
      ...named,
      id: text,
      position: maybe(count),
      characters: count,
      created_at: maybe(time),
      beginning: maybe(text),
    }),
  ),
});
