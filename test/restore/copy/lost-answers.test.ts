import { describe, expect, test } from "vitest";
import { inFull, rounds } from "../../rounds.js";
import type { Fault, Seen } from "../lost/flaky-service.js";
import { chunksOf } from "./start-copy.js";
import { type Given, outcomesOf, rowsOf, type Started, startCopyRun } from "./start-copy-of-run.js";

/** Two documents with the same name, so that mixing them up shows. */
const two = [
  { document_name: "one.txt", document_id: "a", contents: ["of a"] },
  { document_name: "one.txt", document_id: "b", contents: ["of b", "more of b"], enabled: false, archived: true },
];
const restored = ["one.txt: restored", "one.txt: restored"];
const copies = [
  "dataset Copy",
  ...["  one.txt completed", "    1 of a"],
  ...["  one.txt completed disabled archived", "    1 of b", "    2 more of b"],
];
const kinds = ["dataset", "document", "stub", "chunks", "document", "stub", "chunks", "disable", "archive"];
const writes = kinds.map((kind, at) => [kind, at + 1] as const);

const faults: readonly (readonly [string, Fault])[] = [
  ["done, and the answer lost", "lost"],
  ["lost, and done while it is looked for", { late: 2 }],
  ["never done", "cut"],
  ["lost by a proxy", { status: 502, message: "Bad Gateway" }],
  ["broken off by the service", { status: 500, message: "no", code: "internal_server_error" }],
];

const deaths: readonly (readonly [string, Fault | undefined])[] = [
  ["is noted and not sent", "cut"],
  ["is sent and its answer not noted", "lost"],
  ["is noted with its answer", undefined],
];

/** Returns a function that is true for each request seen for the first time. */
function firstOfEach() {
  const before = new Set<string>();
  return ({ method, path, body }: Seen) => before.size < before.add(`${method} ${path} ${body}`).size;
}

test.each(faults)("every write is %s: every row exists once", async (_what, fault) => {
  const isFirst = firstOfEach();
  const place = await startCopyRun(two, { faultOf: (seen, write) => (write > 0 && isFirst(seen) ? fault : undefined) });
  expect(outcomesOf(await place.copyToEnd())).toEqual(restored);
  expect(await place.standing()).toEqual(copies);
  const sent = place.sent().length;
  expect(outcomesOf(await place.copyToEnd())).toEqual(restored);
  expect(place.sent()).toHaveLength(sent);
});

test.runIf(inFull).each(deaths)(
  "processes are killed at every write when it %s: the last one gets the same result",
  async (_what, fault) => {
    const isFirst = firstOfEach();
    let stop = new AbortController();
    const place = await startCopyRun(two, {
      faultOf: (seen, write) => {
        if (write === 0 || !isFirst(seen)) return undefined;
        stop.abort(new Error("killed"));
        return fault;
      },
    });
    let killed = 0;
    for (; killed < 20; killed++) {
      stop = new AbortController();
      const copied = await place.copy({ signal: stop.signal }).catch(() => undefined);
      if (copied && !stop.signal.aborted) break;
    }
    expect(killed).toBeGreaterThanOrEqual(kinds.length);
    expect(outcomesOf(await place.copy())).toEqual(restored);
    expect(await place.standing()).toEqual(copies);
  },
);

/** One fault per test, so that no fault hides another. */
describe.each(writes.slice(0, rounds(0, writes.length)))("the %s, write %i", (kind, number) => {
  test.each(faults)("%s: every row exists once", async (_what, fault) => {
    const place = await startCopyRun(two, { faultOf: (_, write) => (write === number ? fault : undefined) });
    // After a missing answer, only a later command may add chunks or create a document again.
    const isLater = kind === "chunks" || kind === "document";
    expect(outcomesOf(await (isLater ? place.copyToEnd() : place.copy()))).toEqual(restored);
    expect(await place.standing()).toEqual(copies);
  });

  test.each(deaths)("if a process is killed when it %s, the next one gets the same result", async (_what, fault) => {
    const stop = new AbortController();
    const place = await startCopyRun(two, {
      faultOf: (_, write) => {
        if (write !== number) return undefined;
        stop.abort(new Error("killed"));
        return fault;
      },
    });
    await place.copy({ signal: stop.signal }).catch(() => {});
    expect(place.sent()).toHaveLength(number);
    expect(outcomesOf(await place.copy())).toEqual(restored);
    expect(await place.standing()).toEqual(copies);
  });
});

const parentWithChild: Given["readChunks"] = () => {
  const rows = rowsOf({ contents: ["parent"] });
  const [{ id: segment_id } = { id: "" }] = rows.chunks;
  const child = { id: "old child", segment_id, position: 1, content: "by hand", type: "customized" };
  return chunksOf({ ...rows, children: [{ ...child, created_at: 1, updated_at: 1 }] });
};

/** The children in the service. */
const childrenIn = ({ store }: Started) =>
  store
    .datasets()
    .flatMap(({ id }) => store.documents(id))
    .flatMap(({ chunks }) => chunks.flatMap(({ children }) => children.map(({ content }) => content)));

test("a child that arrives after its time limit, like the one that replaced it, exists once", async () => {
  const adds: Seen[] = [];
  const place: Started = await startCopyRun([{ contents: ["parent"], children: 1 }], {
    faultOf: async (seen, write) => {
      if (write === 0 || !seen.path.endsWith("/child_chunks")) return undefined;
      const [first] = adds;
      adds.push(seen);
      if (first === undefined) return "cut";
      await place.byOthers("POST", first.path.replace("/v1", ""), JSON.parse(first.body));
      return undefined;
    },
  });
  const settings = { readChunks: parentWithChild, settle: 0, lockTime: 60_000 };
  await place.copy(settings);
  expect(outcomesOf(await place.copy(settings))).toEqual(["one.txt: restored"]);
  expect([adds.length, childrenIn(place)]).toEqual([2, ["by hand"]]);
});

test.each([
  ["is done while the next one waits for it", { late: 8 }, 1],
  ["is never done", "cut", 2],
] as const)("a child whose answer never came, and that %s, is there once", async (_, fault, adds) => {
  const isAdd = ({ path }: Seen) => path.endsWith("/child_chunks");
  let left = 1;
  const place = await startCopyRun([{ contents: ["parent"], children: 1 }], {
    faultOf: (seen, write) => (write > 0 && isAdd(seen) && left-- > 0 ? fault : undefined),
  });
  const settings = { readChunks: parentWithChild, settle: 0, lockTime: 60_000 };
  expect(outcomesOf(await place.copy(settings))).toEqual([
    expect.stringMatching(/^one\.txt: failed: .*an earlier add to chunk \S+ may still complete until /),
  ]);
  const begun = place.clock.now();
  expect(outcomesOf(await place.copy(settings))).toEqual(["one.txt: restored"]);
  expect(place.clock.now() - begun < 60_000).toBe(fault !== "cut");
  expect([childrenIn(place), place.sent().filter((what) => what.endsWith("/child_chunks")).length]).toEqual([
    ["by hand"],
    adds,
  ]);
});

test("a process that is killed before it noted that a document is done sends nothing more for it", async () => {
  const place = await startCopyRun(two);
  await place.copy();
  const sent = place.sent().length;
  expect(place.lines().at(-1)).toMatchObject({ kind: "restored" });
  const copied = await place.copy({ lines: place.lines().slice(0, -1) });
  expect([outcomesOf(copied), await place.standing()]).toEqual([restored, copies]);
  expect(
    place
      .sent()
      .slice(sent)
      .map((line) => line.replace(/.*\//, "")),
  ).toEqual([...["un_archive", "enable", "disable", "archive"]]);
});

test("a write that never gets through is tried three times, and the next process continues", async () => {
  let isDown = true;
  const place = await startCopyRun(two, {
    faultOf: ({ path }, write) => (isDown && write > 0 && path.endsWith("/archive") ? "cut" : undefined),
  });
  const reason = /^one.txt: partial: the service did not archive it: PATCH .*the connection was closed$/;
  expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored", expect.stringMatching(reason)]);
  expect(place.sent().filter((line) => line.endsWith("/archive"))).toHaveLength(3);
  isDown = false;
  expect(outcomesOf(await place.copy())).toEqual(restored);
  expect(await place.standing()).toEqual(copies);
});

test.runIf(inFull)(
  "a document that may have been created is not created again until its outcome is known",
  async () => {
    let [isDown, tries] = [false, 0];
    const place = await startCopyRun([{ contents: ["x"] }], {
      faultOf: ({ method, path }) => {
        if (path.endsWith("create-by-text") && tries++ === 0) isDown = true;
        return isDown ? (method === "GET" ? { status: 503, message: "busy" } : "lost") : undefined;
      },
    });
    const failed = /^one.txt: failed: it is not known whether the service did make the document: .*POST /;
    expect(outcomesOf(await place.copy())).toEqual([expect.stringMatching(failed)]);
    expect(outcomesOf(await place.copy())).toEqual([
      "one.txt: failed: the outcome of an earlier write to it is unknown; run the same command again later",
    ]);
    expect(place.sent()).toHaveLength(2);
    isDown = false;
    expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored"]);
    expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 x"]);
  },
);

describe("a document whose answer was lost", () => {
  const made = (place: Awaited<ReturnType<typeof startCopyRun>>) =>
    place.sent().filter((line) => line.endsWith("create-by-text")).length;

  test("is created again only by a later command, and exists once even if the service creates it long after", async () => {
    const place = await startCopyRun([{ contents: ["x"] }], {
      faultOf: (_, write) => (write === 2 ? { late: 8 } : undefined),
    });
    expect(outcomesOf(await place.copy({ settle: 0 }))).toEqual([
      expect.stringMatching(
        /^one.txt: failed: it is not known whether the service did make the document: .*; run the same command again/,
      ),
    ]);
    expect(outcomesOf(await place.copy({ settle: 10_000 }))).toEqual(["one.txt: restored"]);
    expect(made(place)).toBe(1);
    expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 x"]);
  });

  test("exists once, even if the process that sent it was killed", async () => {
    const stop = new AbortController();
    const place = await startCopyRun([{ contents: ["x"] }], {
      faultOf: (_, write) => {
        if (write === 2) stop.abort(new Error("killed"));
        return write === 2 ? { late: 3 } : undefined;
      },
    });
    await place.copy({ signal: stop.signal }).catch(() => {});
    expect(outcomesOf(await place.copy({ settle: 0 }))).toEqual(["one.txt: restored"]);
    expect(made(place)).toBe(1);
    expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 x"]);
  });

  test("is not confused with another one of the same name, which is created when the outcome of the first is known", async () => {
    let tries = 0;
    const place = await startCopyRun(two, {
      faultOf: async ({ method, path, body }) => {
        if (body.includes("from document a ") && tries++ === 0) return "cut";
        if (!body.includes("from document b ")) return undefined;
        await place.byOthers(method, path.replace("/v1", ""), JSON.parse(body)); // the write succeeds, but its answer is lost
        return "cut";
      },
    });
    expect(outcomesOf(await place.copy({ concurrency: 2 }))).toEqual([
      expect.stringMatching(/^one.txt: failed: it is not known whether/),
      "one.txt: failed: the service may still make an earlier one of its name; run the same command again later",
    ]);
    expect(outcomesOf(await place.copyToEnd({ concurrency: 2 }))).toEqual(restored);
    expect(await place.standing()).toEqual(copies);
  });

  test("is not confused with another user's document of the same name: nothing of that is deleted", async () => {
    const place = await startCopyRun([{ contents: ["x"] }], {
      faultOf: async ({ path }, write) => {
        const dataset = path.split("/")[3];
        const theirs = { name: "one.txt", text: "theirs" };
        if (write === 2) await place.byOthers("POST", `/datasets/${dataset}/document/create-by-text`, theirs);
        return write === 2 ? "cut" : undefined;
      },
    });
    expect(outcomesOf(await place.copy())).toEqual([
      expect.stringMatching(/^one.txt: failed: someone else added chunk .*: delete it there, then restore again$/),
    ]);
    expect(await place.standing()).toContain("    1 theirs");
  });
});
