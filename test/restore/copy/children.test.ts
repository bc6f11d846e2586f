import fc from "fast-check";
import { expect, test } from "vitest";
import { inFull, rounds } from "../../rounds.js";
import { rowsFrom, type Sketch, startCopy, uuid } from "./start-copy.js";

const nothing = { failed: [], reason: null };
const parents = (...sketches: readonly Sketch[]) => rowsFrom(sketches, "hierarchical_model");
const start = (options: Parameters<typeof startCopy>[0] = {}) => startCopy({ form: "hierarchical_model", ...options });

/** The content of a parent; the service splits it into one child per sentence. */
const content = "One. Two. Three.";
const made = [{ content: "One." }, { content: "Two." }, { content: "Three." }];

test("children that the service makes as the dump has them need no write", async () => {
  const copy = await start();
  expect(await copy.run(parents({ content, children: made }, { content, children: made }))).toEqual(nothing);
  expect(copy.sent()).toEqual(["add 2"]);
  expect(copy.children()).toEqual(Array(2).fill(["One. automatic", "Two. automatic", "Three. automatic"]));
});

test("children that differ are deleted from the last one on, and those of the dump are added after the rest", async () => {
  const copy = await start();
  const [one, two, three] = made;
  const children = [{ ...one, type: "customized" }, { content: "by hand", type: "customized" }, { ...three }].flat();
  expect(
    await copy.run(parents({ content, children }, { content: "No children." }, { content, children: [two ?? {}] })),
  ).toEqual(nothing);
  expect(copy.children()).toEqual([
    ["One. customized", "by hand customized", "Three. customized"],
    [],
    ["Two. customized"],
  ]);
  const methods = copy.sent().map((what) => what.replace(/ .*/, ""));
  expect(methods).toEqual([
    "add",
    ...["DELETE", "DELETE", "PATCH", "POST", "POST"],
    "DELETE",
    ...["DELETE", "DELETE", "DELETE", "POST"],
  ]);
  const bodies = copy.writes().flatMap(({ what, body }) => (what.includes("child_chunks") && body ? [body] : []));
  expect(bodies).toEqual([{ content: "One." }, { content: "by hand" }, { content: "Three." }, { content: "Two." }]);
});

test("children of documents that are not hierarchical are copied too, and no list is read if there are none", async () => {
  const copy = await startCopy();
  expect(await copy.run(rowsFrom([{ children: [{ content: "a" }] }, {}]))).toEqual(nothing);
  expect(copy.children()).toEqual([["a customized"], []]);
  const none = await startCopy();
  await none.run(rowsFrom([{}, {}]));
  expect(none.seen.filter(({ path }) => path.includes("child_chunks"))).toEqual([]);
});

test("children count one by one, whether the service made them or a request did", async () => {
  const counts: number[] = [];
  const copy = await start({
    faultOf: ({ method, path }) => {
      if (method === "POST" && path.endsWith("/child_chunks")) counts.push(copy.progress.childrenDone);
      return undefined;
    },
  });
  const children = [...made, { content: "Four." }, { content: "Five." }];
  expect(await copy.run(parents({ content, children }))).toEqual(nothing);
  expect([...counts, copy.progress.childrenDone]).toEqual([3, 4, 5]);
});

test("a chunk is disabled after its children came", async () => {
  const copy = await start();
  expect(await copy.run(parents({ content, enabled: false, children: [{ content: "x" }] }))).toEqual(nothing);
  expect(copy.sent().at(-1)).toMatch(/^POST \/\S+$/);
  expect([copy.children(), copy.chunks().map(({ enabled }) => enabled)]).toEqual([[["x customized"]], [false]]);
  expect(copy.progress.chunksDone).toBe(1);
});

test("a child that cannot be indexed is tried again, and named; the others come", async () => {
  let failing = 1;
  const copy = await start({
    childIndexFails: (text) => text === "never" || (text === "later" && failing-- > 0),
  });
  const children = [{ content: "a" }, { content: "never" }, { content: "later" }];
  const { failed, reason } = await copy.run(parents({ content: "x", children }));
  expect(reason).toBeNull();
  expect(failed).toMatchObject([
    {
      level: "child_chunk",
      id: uuid(1002),
      position: 2,
      reason: expect.stringContaining("Create child chunk index failed"),
    },
  ]);
  expect(copy.children()).toEqual([["a customized", "later customized"]]);
  expect(copy.progress.chunksDone).toBe(0);
  const again = await copy.run(
    parents({ content: "x", children: children.filter((each) => each.content !== "never") }),
  );
  expect(again).toEqual(nothing);
});

test.runIf(inFull).each(["lost", "cut"] as const)("children are there once, whichever answer is %s", async (fault) => {
  for (let lostWrite = 2; ; lostWrite++) {
    const copy = await start({ faultOf: (_, write) => (write === lostWrite ? fault : undefined) });
    const children = [{ content: "One.", type: "customized" }, { content: "new" }, { content: "new" }];
    expect(await copy.runToEnd(parents({ content, children }))).toEqual(nothing);
    expect(copy.children()).toEqual([["One. customized", "new customized", "new customized"]]);
    if (copy.sent().length < lostWrite) break;
  }
});

test("a child that arrives after the document was given up exists once, and the others follow it", async () => {
  const copy = await start({ faultOf: (_, write) => (write === 3 ? { late: 3 } : undefined) });
  const rows = parents({ content: "x", children: [{ content: "a" }, { content: "b" }] });
  const { reason } = await copy.run(rows, {}, { settle: 0 });
  expect(reason).toMatch(
    /an earlier add to chunk \S+ may still complete until .*; run the same command again after that$/,
  );
  expect(copy.children()).toEqual([[]]);
  expect(await copy.run(rows)).toEqual(nothing);
  expect(copy.children()).toEqual([["a customized", "b customized"]]);
  expect(copy.sent()).toHaveLength(4);
});

test("children by another user stay, and the chunk is named", async () => {
  const copy = await start();
  const rows = parents({ content, children: made });
  await copy.run(rows);
  const path = `/datasets/${uuid(1)}/documents/${copy.documentId}/segments/${copy.chunks()[0]?.id}/child_chunks`;
  await copy.byOthers("POST", path, { content: "of others" });
  const { failed } = await copy.run(rows);
  expect(failed).toMatchObject([
    { level: "chunk", id: uuid(101), reason: expect.stringContaining("the children stay as they are") },
  ]);
  expect(copy.children()[0]).toContain("of others customized");
});

test.runIf(inFull)(
  "the children are always those of the dump, and a second process needs no write",
  async () => {
    const sentence = fc.constantFrom("A.", "B.", "C.");
    const child = fc.record({ content: sentence, type: fc.constantFrom("automatic", "customized") });
    const parent = fc.record({
      content: fc.array(sentence, { minLength: 1, maxLength: 4 }).map((texts) => texts.join(" ")),
      children: fc.array(child, { maxLength: 4 }),
      enabled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(parent, { maxLength: 3 }), async (sketches) => {
        const copy = await start();
        const rows = parents(...sketches);
        expect(await copy.run(rows)).toEqual(nothing);
        const found = copy.children().map((children) => children.map((each) => each.replace(/ \w+$/, "")));
        expect(found).toEqual(sketches.map(({ children }) => children.map((each) => each.content)));
        const writes = copy.sent().length;
        expect(await copy.run(rows)).toEqual(nothing);
        expect(copy.sent().length).toBe(writes);
      }),
      { numRuns: rounds(8, 100) },
    );
  },
  120_000,
);
