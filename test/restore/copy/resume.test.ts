import fc from "fast-check";
import { expect, test } from "vitest";
import { rounds } from "../../rounds.js";
import { plain, rowsFrom, startCopy, uuid } from "./start-copy.js";

const nothing = { failed: [], reason: null };
const textsOf = (count: number) => plain(count).chunks.map(({ content }) => content);
const segments = `/datasets/${uuid(1)}/documents/${uuid(2)}/segments`;

test("a document that already exists needs no write", async () => {
  const copy = await startCopy();
  const rows = rowsFrom([{ enabled: false }, { children: [{ content: "x" }] }, {}]);
  await copy.run(rows);
  const writes = copy.sent().length;
  expect(await copy.run(rows)).toEqual(nothing);
  expect(copy.sent()).toHaveLength(writes);
});

test("a process that ends at any write can be continued, with the same result", async () => {
  const parent = { content: "parent", children: [{ content: "x" }] };
  const rows = rowsFrom([{ content: "a", enabled: false }, { content: "a" }, parent]);
  for (const fault of ["lost", "cut"] as const) {
    for (let last = 1; ; last++) {
      const stop = new AbortController();
      const copy = await startCopy({
        maxPerRequest: 2,
        faultOf: (_, write) => {
          if (write !== last) return undefined;
          stop.abort(new Error("killed"));
          return fault;
        },
      });
      const killed = await copy.run(rows, {}, { signal: stop.signal }).catch((error: Error) => error.message);
      expect(await copy.run(rows)).toEqual(nothing);
      expect(copy.texts()).toEqual(rows.chunks.map(({ content }) => content));
      expect(copy.chunks().map(({ enabled }) => enabled)).toEqual(rows.chunks.map(({ enabled }) => enabled));
      expect(copy.children().flat()).toEqual(["x customized"]);
      if (killed !== "killed") break;
    }
  }
});

test.each(["lost", "cut"] as const)("chunks are there once, whichever answer is %s", async (fault) => {
  for (let lostWrite = 1; ; lostWrite++) {
    const copy = await startCopy({ faultOf: (_, write) => (write === lostWrite ? fault : undefined) });
    const rows = rowsFrom(Array.from({ length: 45 }, (_, at) => ({ content: `text ${at % 3}`, enabled: at !== 21 })));
    expect(await copy.runToEnd(rows)).toEqual(nothing);
    expect(copy.texts()).toEqual(rows.chunks.map(({ content }) => content));
    expect(copy.chunks().findIndex(({ enabled }) => !enabled)).toBe(21);
    if (copy.sent().length < lostWrite) break;
  }
});

test("chunks that arrive after they were sent again are deleted at the end, and those of other users never", async () => {
  const copy = await startCopy({ faultOf: (_, write) => (write === 2 ? { late: 3 } : undefined) });
  expect(await copy.runToEnd(plain(50), {}, { settle: 0 })).toEqual(nothing);
  expect(copy.texts()).toEqual(textsOf(50));
  expect(copy.sent().filter((what) => what.startsWith("DELETE")).length).toBeGreaterThan(10);
});

test("requests that end without an answer, because they are too large, become smaller with every process", async () => {
  const countOf = (body: string) => (body === "" ? 0 : JSON.parse(body).segments.length);
  const copy = await startCopy({ faultOf: ({ body }) => (countOf(body) > 5 ? "cut" : undefined) });
  for (let process = 1; process < 5; process++) {
    const { reason } = await copy.run(plain(20), {}, { settle: 0 });
    expect(reason).toMatch(/run the same command again/);
  }
  expect(await copy.run(plain(20), {}, { settle: 0 })).toEqual(nothing);
  expect(copy.sent()).toEqual(["add 20", "add 10", "add 5", "add 10", "add 5", "add 10", "add 5", "add 5"]);
  expect(copy.texts()).toEqual(textsOf(20));
});

test("chunks with one text come as often as in the dump, whichever arrives late and whichever never", async () => {
  const rows = rowsFrom(Array.from({ length: 12 }, () => ({ content: "same" })));
  for (let lateWrite = 2; lateWrite < 5; lateWrite++) {
    for (let cutWrite = lateWrite + 1; cutWrite < lateWrite + 4; cutWrite++) {
      const copy = await startCopy({
        maxPerRequest: 3,
        faultOf: (_, write) => (write === lateWrite ? { late: 2 } : write === cutWrite ? "cut" : undefined),
      });
      expect(await copy.runToEnd(rows, {}, { settle: 0 })).toEqual(nothing);
      expect(copy.texts()).toEqual(Array(12).fill("same"));
    }
  }
});

test("chunks that arrive after the process ended are deleted by the next", async () => {
  const copy = await startCopy({ faultOf: (_, write) => (write === 1 ? { late: 9 } : undefined) });
  expect(await copy.runToEnd(plain(10), {}, { settle: 0 })).toEqual(nothing);
  expect(copy.texts()).toHaveLength(10);
  for (let request = 0; request < 9; request++) await fetch(copy.url); // meanwhile, the late write arrives
  expect(copy.texts()).toHaveLength(20);
  expect(await copy.runToEnd(plain(10))).toEqual(nothing);
  expect(copy.texts()).toEqual(textsOf(10));
});

test("chunks of a killed process that arrive while the next one writes are deleted at its end", async () => {
  const stop = new AbortController();
  const copy = await startCopy({
    faultOf: (_, write) => {
      if (write === 1) stop.abort(new Error("killed"));
      return write === 1 ? { late: 3 } : undefined;
    },
  });
  await copy.run(plain(100), {}, { signal: stop.signal }).catch(() => {});
  expect(await copy.run(plain(100))).toEqual(nothing);
  expect(copy.texts()).toEqual(textsOf(100));
});

test.each([
  ["added", "", { segments: [{ content: "of others" }] }],
  ["added with a text of the dump", "", { segments: [{ content: "chunk 3" }] }],
  ["changed", "/first", { segment: { content: "changed" } }],
])(
  "a chunk that someone else %s ends the document, which says what to do, and nothing is deleted",
  async (_, path, body) => {
    const copy = await startCopy();
    await copy.run(plain(2));
    await copy.byOthers("POST", segments + path.replace("first", String(copy.chunks()[0]?.id)), body);
    const writes = copy.sent().length;
    const before = copy.texts();
    const { failed, reason } = await copy.run(plain(4));
    expect(failed).toEqual([]);
    expect(reason).toMatch(
      /^chunk \S+, at position \d of document \S+, was not added by this restore, or someone changed it: delete document \S+ in the target, and run this again$/,
    );
    expect([copy.texts(), copy.sent().length]).toEqual([before, writes]);
  },
);

test("a chunk that another user added while answers got lost is not deleted either", async () => {
  const copy = await startCopy({
    faultOf: async (_, write) => {
      if (write === 2) await copy.byOthers("POST", segments, { segments: [{ content: "of others" }] });
      return write === 2 ? "cut" : undefined;
    },
  });
  const { reason } = await copy.runToEnd(plain(30));
  expect(reason).toMatch(/was not added by this restore/);
  expect(copy.texts()).toContain("of others");
});

test("a chunk that failed earlier cannot be added after the others, and the reason says so", async () => {
  let isRefusing = true;
  const copy = await startCopy({
    faultOf: ({ body }) => (isRefusing && body.includes("chunk 2") ? { status: 400, message: "No" } : undefined),
  });
  await copy.run(plain(3));
  isRefusing = false;
  const { failed, reason } = await copy.run(plain(4));
  expect(reason).toBeNull();
  expect(failed).toMatchObject([
    {
      id: uuid(102),
      reason: expect.stringMatching(/^it failed earlier.* adds chunks only at the end: delete document/),
    },
  ]);
  expect(copy.texts()).toEqual(["chunk 1", "chunk 3", "chunk 4"]);
});

test("chunks that an earlier process left unindexed are added again, with those after them, in order", async () => {
  const stop = new AbortController();
  let isFailing = true;
  const copy = await startCopy({
    embeddingFails: (content) => isFailing && content === "chunk 22",
    faultOf: ({ method }) => {
      if (method !== "DELETE" || stop.signal.aborted) return undefined;
      stop.abort(new Error("killed"));
      return "cut";
    },
  });
  await expect(copy.run(plain(25), {}, { signal: stop.signal })).rejects.toThrow("killed");
  expect(copy.chunks().filter(({ status }) => status === "error")).toHaveLength(5);
  isFailing = false;
  expect(await copy.run(plain(25))).toEqual(nothing);
  expect(copy.texts()).toEqual(textsOf(25));
  expect(copy.chunks().every(({ status }) => status === "completed")).toBe(true);
});

test("an unindexed chunk is named, and stays, if too many follow it to add them again", async () => {
  let isFailing = false;
  const copy = await startCopy({ embeddingFails: () => isFailing });
  await copy.run(plain(201));
  isFailing = true;
  await copy.byOthers("POST", `${segments}/${copy.chunks()[0]?.id}`, {
    segment: { content: "chunk 1", enabled: true },
  });
  isFailing = false;
  const writes = copy.sent().length;
  const { failed, reason } = await copy.run(plain(201));
  expect(reason).toBeNull();
  expect(failed).toMatchObject([{ id: uuid(101), reason: "the service stored it and could not index it" }]);
  expect(copy.sent()).toHaveLength(writes);
});

test("chunks that arrive late, before others with the same texts, are not confused with them", async () => {
  const fates = [{ late: 2 }, undefined, { late: 1 }];
  const copy = await startCopy({ faultOf: (_, write) => (write === 0 ? undefined : fates[write - 1]) });
  const rows = rowsFrom([{ content: "a" }, { content: "a", enabled: false }]);
  expect(await copy.runToEnd(rows, {}, { settle: 0 })).toEqual(nothing);
  expect(copy.chunks().map(({ enabled }) => enabled)).toEqual([true, false]);
});

test("whatever answers get lost, and wherever processes end, every chunk exists once, in order", async () => {
  const fate = fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    fc.constantFrom("lost" as const, "cut" as const, "end" as const, "lost and end" as const),
    fc.record({ late: fc.integer({ min: 1, max: 9 }) }),
  );
  const text = fc.record({ content: fc.constantFrom("a", "b", "c"), enabled: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 60 }), fc.array(fate, { maxLength: 8 }), async (sketches, fates) => {
      let stop = new AbortController();
      const copy = await startCopy({
        faultOf: (_, write) => {
          const drawn = write === 0 ? undefined : fates[write - 1];
          if (drawn !== "end" && drawn !== "lost and end") return drawn;
          stop.abort(new Error("killed"));
          return drawn === "end" ? "cut" : "lost";
        },
      });
      const rows = rowsFrom(sketches);
      const ends = fates.filter((drawn) => drawn === "end" || drawn === "lost and end");
      for (let processes = 0; processes <= ends.length; processes++) {
        stop = new AbortController();
        await copy.runToEnd(rows, {}, { signal: stop.signal, settle: 0 }).catch((error: Error) => error.message);
        for (let request = 0; request < 9; request++) await fetch(copy.url); // all late writes arrive
      }
      expect(await copy.runToEnd(rows)).toEqual(nothing);
      expect(copy.chunks().map(({ content, enabled }) => [content, enabled])).toEqual(
        sketches.map(({ content, enabled }) => [content, enabled]),
      );
    }),
    { numRuns: rounds(6, 100, "KBDUMP_COPY_ROUNDS") },
  );
}, 600_000);
