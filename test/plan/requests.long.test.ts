import fc from "fast-check";
import { expect, test } from "vitest";
import type { Behaviour } from "../servers/behaviour.js";
import { makeDocument, type TestDocument } from "../servers/store.js";
import { startPlace } from "./planning.js";

/** A document whose chunks have the usual number of children, but for some with a long list. */
interface Shape {
  readonly chunks: number;
  readonly docForm: string;
  readonly embedChildren: boolean | undefined;
  readonly usual: number;
  readonly long: Readonly<Record<string, number>>;
}

const shapes: fc.Arbitrary<Shape[]> = fc.array(
  fc.record({
    chunks: fc.constantFrom(0, 1, 2, 99, 100, 101, 250),
    docForm: fc.constantFrom("text_model", "qa_model", "hierarchical_model"),
    embedChildren: fc.constantFrom(undefined, undefined, true, false),
    usual: fc.constantFrom(0, 0, 1, 3),
    long: fc.dictionary(fc.nat(30).map(String), fc.constantFrom(0, 99, 100, 101, 205, 250), { maxKeys: 4 }),
  }),
  { minLength: 1, maxLength: 3 },
);

const behaviours: fc.Arbitrary<Behaviour> = fc.constantFrom(
  {},
  { pageCap: 50, hasMore: "rows-equal-limit" },
  { pageCap: 7 },
  { paging: "ignored" },
  { gzip: true, hasMore: "absent" },
);

function documentOf({ embedChildren, usual, long, ...shape }: Shape, at: number): TestDocument {
  const embed = embedChildren === undefined ? {} : { embedChildren };
  return makeDocument({ ...shape, ...embed, childrenPerChunk: (index) => long[index] ?? usual, seed: at + 1 });
}

test("a count marked exact is the count that a run sends, and --exact is always exact", {
  timeout: 120_000,
}, async () => {
  const property = fc.asyncProperty(
    shapes,
    behaviours,
    fc.constantFrom("counts", "sweeps"),
    fc.constantFrom(0, 40, 500),
    async (held, behaviour, consistency, budget) => {
      const { plan, run, server } = await startPlace(held.map(documentOf), behaviour);
      const quick = await plan({ job: { consistency }, options: { budget } });
      expect(quick.asked.sent).toBe(server.requests.length);
      const exact = await plan({ job: { consistency }, options: { budget: Number.POSITIVE_INFINITY } });
      expect(exact.certainty.all).toMatchObject({ exact: true, why: [] });
      const { manifest } = await run({ job: { consistency } });
      const { manifest: auto } = await run({ job: { consistency, child_chunks: "auto" } });
      expect(manifest).toMatchObject({ status: "complete", requests: { retried: 0 } });
      for (const { requests, certainty, counts } of [quick, exact]) {
        if (certainty.all.exact) expect(requests.all).toBe(manifest.requests.sent);
        else expect(certainty.all.why).not.toEqual([]);
        expect(certainty.all.at_least).toBeLessThanOrEqual(manifest.requests.sent);
        expect(certainty.auto.at_least).toBeLessThanOrEqual(auto.requests.sent);
        expect(counts.chunks).toBe(manifest.counts.chunks);
        if (counts.child_chunks_exact) expect(counts.child_chunks).toBe(manifest.counts.child_chunks);
      }
      await server.close();
    },
  );
  await fc.assert(property, { numRuns: Number(process.env.RUNS ?? 4), seed: Number(process.env.SEED ?? 1) });
});
