import { describe, expect, test } from "vitest";
import { emptyWriteProgress } from "../../../src/restore/result.js";
import { inFull } from "../../rounds.js";
import {
  documentId,
  outcomesOf,
  planOf,
  restoring,
  restoringChild,
  segments,
  startTarget,
  target,
  uuid,
} from "./small-target.js";

const added = (number: number, content = `added ${number}`) =>
  restoring(number, { target: null, texts: { content, answer: null, keywords: null } });

describe("texts", () => {
  test("an edited chunk gets its text back, in one request, and the rest stays", async () => {
    const place = await startTarget([{}, {}, {}]);
    const applied = await place.apply([restoring(2)]);
    expect(applied).toEqual({
      rows: [
        {
          document_id: documentId,
          level: "chunk",
          id: uuid(502),
          position: 2,
          outcome: "written",
          target_id: uuid(102),
          reason: null,
        },
      ],
      writes: 1,
    });
    expect(place.texts()).toEqual(["chunk 1", "lost 2", "chunk 3"]);
    expect(place.writes()).toEqual([
      { what: "POST …/segments/#102", body: { segment: { content: "lost 2", attachment_ids: [] } } },
    ]);
    expect(await place.prove()).toEqual([]);
  });

  test("an answer is sent along, and so are the files that the chunk has now", async () => {
    const attachments = [{ id: "file-1", source_url: "/files/file-1/file-preview" }];
    const place = await startTarget([{ answer: "yes", attachments }], { form: "qa_model" });
    const asked = restoring(1, {
      target: target(1, { answer: "yes" }),
      texts: { content: "lost?", answer: "no", keywords: null },
    });
    expect(outcomesOf(await place.apply([asked], {}, { doc_form: "qa_model" }))).toEqual(["chunk 501: written"]);
    const segment = { content: "lost?", answer: "no", attachment_ids: ["file-1"] };
    expect(place.writes().map(({ body }) => body)).toEqual([{ segment }]);
    expect(place.rows().chunks).toMatchObject([{ content: "lost?", answer: "no", attachment_ids: ["file-1"] }]);
    expect(await place.prove()).toEqual([]);
  });

  test.each(["high_quality", "economy"])("keywords come back, too: %s", async (technique) => {
    const place = await startTarget([{ keywords: ["new"] }], { technique });
    const edited = restoring(1, {
      target: target(1, { keywords: ["new"] }),
      texts: { content: "lost", answer: null, keywords: ["old", "older"] },
    });
    expect(outcomesOf(await place.apply([edited]))).toEqual(["chunk 501: written"]);
    expect(place.rows().chunks).toMatchObject([{ content: "lost", keywords: ["old", "older"] }]);
    expect(place.writes().map(({ body }) => body.segment.content)).toEqual(["chunk 1", "lost"]);
    expect(await place.prove()).toEqual([]);
  });

  test("only keywords take one request", async () => {
    const place = await startTarget([{}]);
    const texts = { content: "chunk 1", answer: null, keywords: ["old"] };
    expect(outcomesOf(await place.apply([restoring(1, { texts })]))).toEqual(["chunk 501: written"]);
    expect(place.writes().map(({ body }) => body.segment.keywords)).toEqual([["old"]]);
    expect(await place.prove()).toEqual([]);
  });

  test("added chunks come one a request, in order, at the end", async () => {
    const place = await startTarget([{}, {}], {}, { maxPerRequest: 1 });
    expect(outcomesOf(await place.apply([added(1), added(2), added(3)]))).toEqual([
      "chunk 501: written",
      "chunk 502: written",
      "chunk 503: written",
    ]);
    expect(place.texts()).toEqual(["chunk 1", "chunk 2", "added 1", "added 2", "added 3"]);
    expect(place.writes()).toHaveLength(3);
    const lists = place.seen.filter(({ method, path }) => method === "GET" && /\/segments\?/.test(path));
    expect(lists).toHaveLength(1); // the restore counts equal texts only once per document
    expect(await place.prove()).toEqual([]);
  });

  test("a disabled chunk is enabled together with its new texts", async () => {
    const place = await startTarget([{ enabled: false }]);
    expect(outcomesOf(await place.apply([restoring(1, { target: target(1, { enabled: false }) })]))).toEqual([
      "chunk 501: written",
    ]);
    expect(place.rows().chunks).toMatchObject([{ content: "lost 1", enabled: true }]);
    expect(await place.prove()).toEqual([]);
  });
});

describe("child chunks", () => {
  test("take the place of their twin, or come last", async () => {
    const place = await startTarget([{ children: ["one", "two"] }], { form: "hierarchical_model" });
    const children = [
      restoringChild(1, "one, by hand", { id: uuid(1001), content: "one" }),
      restoringChild(2, "three, by hand"),
    ];
    expect(outcomesOf(await place.apply([restoring(1, { texts: null, children })]))).toEqual([
      "child_chunk 601: written",
      "child_chunk 602: written",
    ]);
    expect(place.writes()).toEqual([
      { what: "PATCH …/segments/#101/child_chunks/#1001", body: { content: "one, by hand" } },
      { what: "POST …/segments/#101/child_chunks", body: { content: "three, by hand" } },
    ]);
    expect(place.rows().children).toMatchObject([
      { content: "one, by hand", type: "customized" },
      { content: "two", type: "automatic" },
      { content: "three, by hand", type: "customized" },
    ]);
    expect(await place.prove()).toEqual([]);
  });

  test("below an added chunk come after those that the service creates", async () => {
    const shape = { form: "hierarchical_model", technique: "high_quality" };
    const place = await startTarget([{ children: ["one"] }], shape);
    const restore = { ...added(1, "parent"), children: [restoringChild(1, "by hand")] };
    expect(outcomesOf(await place.apply([restore]))).toEqual(["chunk 501: written", "child_chunk 601: written"]);
    const types = place.rows().children.map(({ type }) => type);
    expect(types).toEqual(["automatic", "automatic", "customized"]);
    expect(await place.prove()).toEqual([]);
  });

  test("are not written if their chunk was not", async () => {
    const place = await startTarget([{ content: "other", children: ["one"] }]);
    const children = [restoringChild(1, "by hand")];
    const applied = await place.apply([restoring(1, { children }), restoring(1, { texts: null, children })]);
    expect(outcomesOf(applied)).toEqual([
      "chunk 501: changed meanwhile",
      "child_chunk 601: changed meanwhile",
      "child_chunk 601: changed meanwhile",
    ]);
    expect(applied.rows[1]?.reason).toBe(`its chunk: ${applied.rows[0]?.reason}`);
    expect(place.writes()).toEqual([]);
  });
});

describe("disabling", () => {
  test("comes last, and repeats the content of the chunk", async () => {
    const place = await startTarget([{ answer: "yes" }], { form: "qa_model" });
    const texts = { content: "lost?", answer: "no", keywords: null };
    const restore = restoring(1, { target: target(1, { answer: "yes" }), texts, disable: true });
    expect(outcomesOf(await place.apply([restore], {}, { doc_form: "qa_model" }))).toEqual(["chunk 501: written"]);
    const last = { content: "lost?", answer: "no", enabled: false, attachment_ids: [] };
    expect(place.writes().map(({ body }) => body.segment)[1]).toEqual(last);
    expect(place.rows().chunks).toMatchObject([{ content: "lost?", answer: "no", enabled: false }]);
    expect(await place.prove()).toEqual([]);
  });

  test("without other changes keeps the text", async () => {
    const place = await startTarget([{}, { enabled: false }]);
    const disable = (number: number) => restoring(number, { texts: null, disable: true });
    expect(outcomesOf(await place.apply([disable(1), disable(2)]))).toEqual(["chunk 501: written", "chunk 502: there"]);
    expect(place.rows().chunks).toMatchObject([{ content: "chunk 1", enabled: false }, { enabled: false }]);
    expect(await place.prove()).toEqual([]);
  });

  test.runIf(inFull)(
    "waits until the service accepts it; the waits of many chunks overlap, and others continue meanwhile",
    async () => {
      const disabled = Array.from({ length: 20 }, () => ({ enabled: false }));
      const place = await startTarget([...disabled, {}]);
      const restores = disabled.map((_, at) =>
        restoring(at + 1, { target: target(at + 1, { enabled: false }), disable: true }),
      );
      const begun = place.clock.now();
      const applied = await place.apply([...restores, restoring(21)]);
      expect(applied.rows.every(({ outcome }) => outcome === "written")).toBe(true);
      expect(place.rows().chunks.map(({ enabled }) => enabled)).toEqual([...disabled.map(() => false), true]);
      expect(place.clock.now() - begun).toBeLessThan(700_000);
      const at = place.writes().findIndex(({ what }) => what.endsWith("#121"));
      expect(at).toBeLessThan(45); // the other row does not wait for the retries
      expect(await place.prove()).toEqual([]);
    },
  );

  test.runIf(inFull)("is given up after 660 s: still enabled, with the service's words", async () => {
    const place = await startTarget([{ enabled: false }], {}, { indexingSeconds: 5_000 });
    const begun = place.clock.now();
    const applied = await place.apply([restoring(1, { target: target(1, { enabled: false }), disable: true })]);
    expect(applied.rows).toMatchObject([
      {
        ...{ outcome: "still enabled", target_id: uuid(101) }, // its text was written
        reason: expect.stringContaining("Segment is indexing, please try again later"),
      },
    ]);
    expect(place.clock.now() - begun).toBeGreaterThanOrEqual(660_000);
    expect(place.clock.now() - begun).toBeLessThan(800_000);
    expect(await place.prove()).toEqual([]); // a reported failure is not a difference
  });
});

test("a chunk that is only to be disabled, and is left enabled, was not written", async () => {
  const refused = { status: 400, message: "Segment is indexing, please try again later" };
  const place = await startTarget(
    [{}],
    {},
    { faultOf: (_: unknown, write: number) => (write > 0 ? refused : undefined) },
  );
  const { rows } = await place.apply([restoring(1, { texts: null, disable: true })]);
  expect(rows).toMatchObject([{ outcome: "still enabled", target_id: null }]);
  expect(await place.prove()).toEqual([]);
});

describe("a target that was changed after the plan was made", () => {
  const byOthers: [string, Readonly<Record<string, unknown>>, string][] = [
    ["its text", { content: "theirs" }, "differs in text from"],
    ["its keywords", { keywords: ["theirs"] }, "differs in keywords from"],
    ["its state", { enabled: false }, "differs in state from"],
  ];

  test.each(byOthers)("stays unchanged: %s", async (_, change, reason) => {
    const place = await startTarget([{}]);
    await place.byOthers("POST", `${segments}/${uuid(101)}`, { segment: change });
    const { rows } = await place.apply([restoring(1)]);
    expect(rows).toMatchObject([{ outcome: "changed meanwhile", target_id: null }]);
    expect(rows[0]?.reason).toContain(reason);
    expect(place.writes()).toEqual([]);
  });

  test("stays unchanged if it is gone, or belongs to another document", async () => {
    const place = await startTarget([{}, { document_id: uuid(77) }]);
    const { rows } = await place.apply([restoring(9), restoring(2)]);
    expect(rows.map(({ outcome }) => outcome)).toEqual(["changed meanwhile", "changed meanwhile"]);
    expect(rows[1]?.reason).toContain("does not belong to this document");
    expect(place.writes()).toEqual([]);
  });

  test("is already restored if it has the lost text", async () => {
    const place = await startTarget([{ content: "lost 1", keywords: ["k"], children: ["by hand"] }]);
    const restore = restoring(1, {
      texts: { content: "lost 1", answer: "", keywords: ["k"] },
      children: [restoringChild(1, "by hand", { id: uuid(1001), content: "one" })],
    });
    expect(outcomesOf(await place.apply([restore]))).toEqual(["chunk 501: there", "child_chunk 601: there"]);
    expect(place.writes()).toEqual([]);
  });

  test("a twin with another text, or none, stays unchanged", async () => {
    const place = await startTarget([{ children: ["theirs"] }]);
    const twins = [uuid(1001), uuid(1002)].map((id, at) => restoringChild(at, "by hand", { id, content: "one" }));
    const { rows } = await place.apply([restoring(1, { texts: null, children: twins })]);
    expect(rows.map(({ outcome }) => outcome)).toEqual(["changed meanwhile", "changed meanwhile"]);
    expect(place.writes()).toEqual([]);
  });

  test("a chunk to disable with another text stays unchanged", async () => {
    const place = await startTarget([{ content: "theirs" }]);
    expect(outcomesOf(await place.apply([restoring(1, { texts: null, disable: true })]))).toEqual([
      "chunk 501: changed meanwhile",
    ]);
    expect(place.writes()).toEqual([]);
  });
});

describe("refusals", () => {
  test("of one row contain the text from the service, and the others continue", async () => {
    const place = await startTarget([{}, {}]);
    const { rows } = await place.apply([added(1, "   "), restoring(2)]);
    expect(rows).toMatchObject([{ outcome: "failed", target_id: null }, { outcome: "written" }]);
    expect(rows[0]?.reason).toMatch(/POST .*\/segments: 400 invalid_param Content is empty$/);
    expect(await place.prove()).toEqual([]);
  });

  test("of a document end it, with the reason for every row, and nothing more is sent", async () => {
    const place = await startTarget([{}, {}], { documents: [{ indexing_status: "indexing" }] });
    const { rows } = await place.apply([added(1), restoring(2, { disable: true, children: [restoringChild(1, "x")] })]);
    expect(rows.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed"]);
    expect(rows.every(({ reason }) => reason?.includes("404 not_found Document is not completed."))).toBe(true);
    expect(place.writes()).toHaveLength(1);
  });

  test("of the key end everything; finished writes stay in the journal", async () => {
    const faultOf = (_: unknown, write: number) =>
      write === 2 ? { status: 403, message: "You don't have the permission" } : undefined;
    const place = await startTarget([{}, {}, {}], {}, { faultOf });
    await expect(place.apply([restoring(1), restoring(2), restoring(3)])).rejects.toThrow(/403 .*in the journal$/);
    expect(place.writes()).toHaveLength(2);
    expect(place.texts()).toEqual(["lost 1", "chunk 2", "chunk 3"]);
    expect(await place.prove()).toEqual([]);
    expect((await place.open()).open).toEqual([]);
  });

  test("documents that the plan refuses are not written", async () => {
    const place = await startTarget([{}]);
    expect(await place.apply([restoring(1)], {}, { refused: "archived" })).toEqual({ rows: [], writes: 0 });
    expect(place.seen).toEqual([]);
  });
});

describe("several documents", () => {
  const plans = [0, 1, 2].map((at) => {
    const restores = [1, 2].map((number) => added(number));
    return planOf(restores, { document_id: uuid(2 + at) });
  });

  test("are written at once, as many as asked, each with one write at a time; rows come in the order of the plan", async () => {
    const place = await startTarget([{}], { documents: [{}, {}, {}] }, { delay: 30 });
    const { rows } = await place.applyAll(plans, { concurrency: 2 });
    expect(rows.map(({ document_id, id }) => [Number(document_id.slice(-2)), Number(id.slice(-3))])).toEqual([
      [2, 501],
      [2, 502],
      [3, 501],
      [3, 502],
      [4, 501],
      [4, 502],
    ]);
    expect(place.most).toEqual({ all: 2, document: 1 });
  });

  test("continue after one is refused", async () => {
    const place = await startTarget([{}], { documents: [{ enabled: false }, {}, {}] });
    const { rows } = await place.applyAll(plans, { concurrency: 1 });
    const [failed, ...others] = rows.map(({ outcome }) => outcome);
    expect([failed, others]).toEqual(["failed", ["failed", "written", "written", "written", "written"]]);
    expect(rows[1]?.reason).toMatch(/accepts no writes to this document: .*Document is disabled\.$/);
  });

  test("end together if the key is refused", async () => {
    const faultOf = (_: unknown, write: number) => (write === 1 ? { status: 401, message: "No." } : undefined);
    const place = await startTarget([{}], { documents: [{}, {}, {}] }, { faultOf, delay: 30 });
    await expect(place.applyAll(plans, { concurrency: 2 })).rejects.toThrow(/401/);
    expect(place.writes().length).toBeLessThanOrEqual(2);
    expect((await place.open()).open).toEqual([]);
  });
});

test("the progress counts chunks", async () => {
  const place = await startTarget([{}, {}]);
  const progress = emptyWriteProgress();
  await place.apply([restoring(1), restoring(2)], { progress });
  expect(progress).toMatchObject({ chunks: 2, chunksDone: 2, waiting: 0 });
});
