import { describe, expect, test } from "vitest";
import type { ChildRestore } from "../../../src/compare/lost/restore-plan.js";
import { inFull } from "../../rounds.js";
import type { Fault, Seen } from "./flaky-service.js";
import {
  outcomesOf,
  planOf,
  restoring,
  restoringChild,
  segments,
  startTarget,
  type Target,
  uuid,
} from "./small-target.js";

const added = (number: number, content = `added ${number}`) =>
  restoring(number, { target: null, texts: { content, answer: null, keywords: null } });
/** The fault for the first write; later writes succeed. */
const first = (fault: Fault) => (_: Seen, write: number) => (write === 1 ? fault : undefined);

const kinds = [
  ["an added chunk", { ...added(1) }, "chunk 501"],
  ["an updated chunk", restoring(1), "chunk 501"],
  ["keywords", restoring(1, { texts: { content: "chunk 1", answer: null, keywords: ["k"] } }), "chunk 501"],
  ["a disabled chunk", restoring(1, { texts: null, disable: true }), "chunk 501"],
  ["an added child chunk", restoring(1, { texts: null, children: [restoringChild(1, "by hand")] }), "child_chunk 601"],
  [
    "a replaced child chunk",
    restoring(1, { texts: null, children: [restoringChild(1, "by hand", { id: uuid(1001), content: "one" })] }),
    "child_chunk 601",
  ],
] as const;

const found: readonly (readonly [string, Fault, number])[] = [
  ["done, and the answer lost: it is found and not sent again", "lost", 1],
  ["lost, and done while it is looked for: it is found and not sent again", { late: 3 }, 1],
];
/** Faults after which a request is sent again. They are not tested with added rows, because one command sends an add only once. */
const sentAgain: typeof found = [
  ["never done: it is sent again once all the time has passed", "cut", 2],
  ["answered by a proxy that lost the service: it is sent again", { status: 502, message: "Bad Gateway" }, 2],
];

describe.each(kinds)("%s", (what, restore, name) => {
  const isAdd = what.startsWith("an added");
  test.each([...found, ...(isAdd ? [] : sentAgain)])("%s", async (_what, fault, writes) => {
    const place = await startTarget([{ children: ["one"] }], {}, { faultOf: first(fault) });
    const begun = place.clock.now();
    const applied = await place.apply([restore]);
    expect(outcomesOf(applied)).toEqual([`${name}: written`]);
    expect([place.writes().length, applied.writes]).toEqual([writes, writes]);
    expect(place.clock.now() - begun >= 60_000).toBe(writes === 2);
    expect(await place.prove()).toEqual([]); // the row exists exactly once
    expect((await place.open()).open).toEqual([]);
  });

  test(`that never gets through fails after ${isAdd ? "one try, which" : "three tries, each of which"} was looked for`, async () => {
    const place = await startTarget(
      [{ children: ["one"] }],
      {},
      { faultOf: (_seen, write) => (write ? "cut" : undefined) },
    );
    const applied = await place.apply([restore]);
    const outcome = restore.disable ? "still enabled" : "failed";
    expect(outcomesOf(applied)).toEqual([`${name}: ${outcome}`]);
    expect(applied.rows[0]?.reason).toMatch(
      isAdd
        ? /^POST .*the connection was closed; an earlier add to (this document|chunk [-0-9]+) may still complete until 2026-03-01T12:11:.*; run the same command again after that$/
        : /^(POST|PATCH) .*the connection was closed$/,
    );
    expect(place.writes()).toHaveLength(isAdd ? 1 : 3);
    expect(await place.prove()).toEqual([]);
  });
});

test("a write that takes longer than the timeout is looked for, and found", async () => {
  const place = await startTarget([{}], {}, { delay: 300 });
  const applied = await place.apply([added(1)], { writeTimeout: 0.1 });
  expect(outcomesOf(applied)).toEqual(["chunk 501: written"]);
  expect([place.writes().length, place.texts()]).toEqual([1, ["chunk 1", "added 1"]]);
});

test("a write that shows up after it was given up is not sent again", async () => {
  // the write completes just before the check that precedes the second try
  const looks = (seen: Seen) => seen.method === "GET" && /\/segments\?/.test(seen.path);
  let count = 0;
  const place = await startTarget(
    [{}],
    {},
    {
      faultOf: (seen, write) => {
        if (looks(seen)) count++;
        return write === 1 ? { late: 11 } : undefined;
      },
    },
  );
  expect(outcomesOf(await place.apply([added(1)]))).toEqual(["chunk 501: written"]);
  expect([place.writes().length, place.texts()]).toEqual([1, ["chunk 1", "added 1"]]);
  expect(count).toBeGreaterThan(10);
  expect(await place.prove()).toEqual([]);
});

test("equal texts differ by their ids: a lost answer is found beside the equal chunk that was there", async () => {
  const place = await startTarget([{ content: "same" }, { content: "same" }], {}, { faultOf: first("lost") });
  expect(outcomesOf(await place.apply([added(1, "same"), added(2, "same")]))).toEqual([
    "chunk 501: written",
    "chunk 502: written",
  ]);
  expect([place.writes().length, place.texts()]).toEqual([2, ["same", "same", "same", "same"]]);
  expect(await place.prove()).toEqual([]);
});

test.runIf(inFull)(
  "an equal text from before, or one that the restore added, does not count as a write that was never done",
  async () => {
    const cut = (_: Seen, write: number) => (write === 1 || write === 3 ? "cut" : undefined);
    const place = await startTarget([{ content: "same" }], {}, { faultOf: cut });
    const both = planOf([1, 2].map((number) => ({ ...added(number, "same"), equal: 1 })));
    expect(outcomesOf(await place.applyAll([both]))).toEqual(["chunk 501: failed", "chunk 502: failed"]);
    await place.reconcile();
    expect(outcomesOf(await place.applyAll([both]))).toEqual(["chunk 501: written", "chunk 502: failed"]);
    await place.reconcile();
    expect(outcomesOf(await place.applyAll([planOf([{ ...added(2, "same"), equal: 2 }])]))).toEqual([
      "chunk 502: written",
    ]);
    expect([place.writes().length, place.texts()]).toEqual([4, ["same", "same", "same"]]);
    expect(await place.prove()).toEqual([]);
  },
);

describe("an add that waits for a lock of the service longer than the restore looks for it", () => {
  /** The service executes the late write during the second restore, or between the two restores. */
  test.runIf(inFull).each([16, 40])(
    "is sent once, and recognized by the journal: after %d more requests",
    async (late) => {
      const place = await startTarget([{}], {}, { faultOf: first({ late }) });
      const applied = await place.apply([added(1), restoring(1), added(2)]);
      expect(outcomesOf(applied)).toEqual(["chunk 501: failed", "chunk 501: written", "chunk 502: failed"]);
      expect(applied.rows[2]?.reason).toMatch(/^an earlier add to this document may still complete until /);
      expect([place.writes().length, (await place.open()).open.length]).toEqual([2, 1]);
      await place.reconcile();
      expect([place.writes().length, place.texts(), (await place.open()).open]).toEqual([2, ["lost 1", "added 1"], []]);
      expect(outcomesOf(await place.apply([added(2)]))).toEqual(["chunk 502: written"]);
      expect(place.texts()).toEqual(["lost 1", "added 1", "added 2"]);
      expect(await place.prove()).toEqual([]);
    },
  );

  test("is no difference to the proof when it comes before that, but a second one is", async () => {
    const place = await startTarget([{}], {}, { faultOf: first("cut") });
    await place.apply([added(1)]);
    await place.byOthers("POST", segments, { segments: [{ content: "added 1" }] });
    expect(await place.prove()).toEqual([]);
    await place.byOthers("POST", segments, { segments: [{ content: "added 1" }] });
    expect(await place.prove()).toEqual([expect.stringMatching(/it is new, and this restore did not write it$/)]);
  });
});

describe("an add of a child chunk that a proxy gives up while the service continues", () => {
  const below = (number: number, ...children: readonly ChildRestore[]) => restoring(number, { texts: null, children });
  const proved = () => startTarget([{}, {}], {}, { faultOf: first({ late: 40 }) });
  const children = (place: Target) => place.rows().children.map(({ content }) => content);

  test("is sent once, and recognized by the journal; its chunk accepts no more children meanwhile, other chunks do", async () => {
    const place = await proved();
    const lost = [restoringChild(1, "a"), restoringChild(2, "b")];
    const applied = await place.apply([below(1, ...lost), below(2, restoringChild(3, "c"))]);
    expect(outcomesOf(applied)).toEqual([
      "child_chunk 601: failed",
      "child_chunk 602: failed",
      "child_chunk 603: written",
    ]);
    expect(applied.rows[1]?.reason).toBe(
      `an earlier add to chunk ${uuid(101)} may still complete until 2026-03-01T12:11:00.000Z; run the same command again after that`,
    );
    expect([place.writes().length, (await place.open()).open.length, await place.prove()]).toEqual([2, 1, []]);
    await place.reconcile();
    expect([children(place), (await place.open()).open]).toEqual([["a", "c"], []]);
    expect(outcomesOf(await place.apply([below(1, restoringChild(2, "b"))]))).toEqual(["child_chunk 602: written"]);
    expect([place.writes().length, children(place), await place.prove()]).toEqual([3, ["a", "b", "c"], []]);
  });

  test("is no difference to the proof when it comes before that, but a second one is, and one below another chunk", async () => {
    const place = await startTarget([{}, {}], {}, { faultOf: first("cut") });
    await place.apply([below(1, restoringChild(1, "a"))]);
    const add = (chunk: number) => place.byOthers("POST", `${segments}/${uuid(chunk)}/child_chunks`, { content: "a" });
    const isNew = expect.stringMatching(/it is new, and this restore did not write it$/);
    await add(101);
    expect(await place.prove()).toEqual([]);
    await add(101);
    expect(await place.prove()).toEqual([isNew]);
    await add(102);
    expect(await place.prove()).toEqual([isNew, isNew]);
  });
});

test("an equal child chunk from before does not count as a write that was never done", async () => {
  const place = await startTarget([{ children: ["same"] }], {}, { faultOf: first("cut") });
  const restore = restoring(1, { texts: null, children: [restoringChild(1, "same")] });
  expect(outcomesOf(await place.apply([restore]))).toEqual(["child_chunk 601: failed"]);
  await place.reconcile();
  expect(outcomesOf(await place.apply([restore]))).toEqual(["child_chunk 601: written"]);
  expect([place.writes().length, place.rows().children.map(({ content }) => content)]).toEqual([2, ["same", "same"]]);
});

test("a lost answer is found although its equal chunk is deleted meanwhile", async () => {
  let place: Target | undefined;
  place = await startTarget(
    [{ content: "same" }, {}],
    {},
    {
      faultOf: async (seen, write) => {
        if (seen.method !== "GET" && write === 1) return { late: 1 };
        return undefined;
      },
    },
  );
  const { byOthers } = place;
  const sleep = async (milliseconds: number) => {
    await place?.clock.sleep(milliseconds);
    if (place?.texts()[0] === "same")
      await byOthers("POST", `${segments}/${uuid(101)}`, { segment: { content: "theirs" } });
  };
  expect(outcomesOf(await place.apply([added(1, "same")], { sleep }))).toEqual(["chunk 501: written"]);
  expect(place.writes()).toHaveLength(1);
});

describe("a child chunk that the service cannot index", () => {
  test("is an error of the service, after which it is looked for at once, three times in all", async () => {
    const place = await startTarget([{}], {}, { childIndexFails: () => true });
    const begun = place.clock.now();
    const applied = await place.apply([restoring(1, { texts: null, children: [restoringChild(1, "by hand")] })]);
    expect(applied.rows).toMatchObject([
      { outcome: "failed", reason: expect.stringContaining("500 child_chunk_indexing_error") },
    ]);
    expect(place.writes()).toHaveLength(3);
    expect(place.clock.now() - begun).toBeLessThan(10_000);
  });
});

describe("a chunk that was stored and could not be indexed", () => {
  test.each([
    ["added", added(1, "bad"), "…/segments", 1],
    ["updated", restoring(1, { texts: { content: "bad", answer: null, keywords: null } }), "…/segments/#101", 2],
  ])("is repaired by its id, never added again: %s", async (_, restore, path, failures) => {
    let failed = 0;
    const place = await startTarget([{}], {}, { embeddingFails: () => failed++ < failures, indexingSeconds: 0 });
    expect(outcomesOf(await place.apply([restore]))).toEqual(["chunk 501: written"]);
    const [write, ...repairs] = place.writes();
    expect(write?.what).toBe(`POST ${path}`);
    const touched = { content: "bad ", enabled: true, attachment_ids: [] };
    const repaired = failures === 1 ? { content: "bad", attachment_ids: [] } : { ...touched, content: "bad" };
    expect(repairs.map(({ body }) => body.segment)).toEqual([touched, repaired]);
    expect(place.rows().chunks.at(-1)).toMatchObject({ content: "bad", enabled: true, status: "completed" });
    expect(place.texts().filter((text) => String(text).startsWith("bad"))).toEqual(["bad"]);
    expect(await place.prove()).toEqual([]);
  });

  test("and cannot be repaired fails, with the text from the service and the text to write", async () => {
    const place = await startTarget([{}], {}, { embeddingFails: () => true, indexingSeconds: 0 });
    const applied = await place.apply([added(1)]);
    const id = place.rows().chunks.at(-1)?.id;
    const reason = `the service stored chunk ${id} and could not index it: Embedding failed: the model did not answer`;
    expect(applied.rows).toMatchObject([{ outcome: "failed", target_id: id, reason }]);
    expect(place.writes()).toHaveLength(5);
    expect(place.texts()).toEqual(["chunk 1", "added 1"]);
    expect(await place.prove()).toEqual([]); // a reported failure is not a difference
  });

  test("is repaired, and not added, by the next restore that finds its text lost", async () => {
    let isDown = true;
    const place = await startTarget([{}], {}, { embeddingFails: () => isDown, indexingSeconds: 0 });
    await place.apply([added(1)]);
    isDown = false;
    expect(outcomesOf(await place.apply([added(1)]))).toEqual(["chunk 501: written"]);
    expect(place.texts()).toEqual(["chunk 1", "added 1"]);
    expect(await place.prove()).toEqual([]);
  });

  test("stays unchanged after another user changed it", async () => {
    const place: Target = await startTarget(
      [{}],
      {},
      {
        embeddingFails: (content) => content === "added 1",
        indexingSeconds: 0,
        faultOf: async (_seen, write) => {
          const id = place.rows().chunks[1]?.id;
          const segment = { content: "theirs", enabled: true };
          if (write === 0 && id && place.texts()[1] === "added 1")
            await place.byOthers("POST", `${segments}/${id}`, { segment });
          return undefined;
        },
      },
    );
    const applied = await place.apply([added(1)]);
    expect(applied.rows).toMatchObject([{ outcome: "changed meanwhile" }]);
    expect(place.texts()).toEqual(["chunk 1", "theirs"]);
  });
});

test("a service that is away for a moment gets the write when it is back", async () => {
  const place = await startTarget([{}], {}, { faultOf: first({ status: 503, message: "starting" }) });
  expect(outcomesOf(await place.apply([restoring(1)]))).toEqual(["chunk 501: written"]);
  expect(await place.prove()).toEqual([]);
});

test("a text that appears after the plan was made is not added again", async () => {
  const place = await startTarget([{ content: "chunk 1" }]);
  const plan = added(1, "by hand");
  await place.byOthers("POST", segments, { segments: [{ content: "by hand" }] });
  expect(outcomesOf(await place.applyAll([planOf([plan])]))).toEqual(["chunk 501: there"]);
  expect([place.writes().length, place.texts()]).toEqual([0, ["chunk 1", "by hand"]]);
});

test("a text that appears after the plan was made counts for one of two equal rows", async () => {
  const place = await startTarget([{ content: "chunk 1" }]);
  const plan = planOf([added(1, "by hand"), added(2, "by hand")]);
  await place.byOthers("POST", segments, { segments: [{ content: "by hand" }] });
  expect(outcomesOf(await place.applyAll([plan]))).toEqual(["chunk 501: there", "chunk 502: written"]);
  expect(place.texts()).toEqual(["chunk 1", "by hand", "by hand"]);
});
