import { describe, expect, test } from "vitest";
import { rounds } from "../../../rounds.js";
import type { Fault, Seen } from "../../apply/flaky-service.js";
import { outcomesOf, startMove } from "./start-copy-of-run.js";

/** Two documents of one name, so that it matters which is which. */
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

/** Gives true for each request that was not seen before. */
function firstOfEach() {
  const before = new Set<string>();
  return ({ method, path, body }: Seen) => before.size < before.add(`${method} ${path} ${body}`).size;
}

test.each(faults)("every write is %s: everything is there once", async (_what, fault) => {
  const isFirst = firstOfEach();
  const place = await startMove(two, { faultOf: (seen, write) => (write > 0 && isFirst(seen) ? fault : undefined) });
  expect(outcomesOf(await place.moveToEnd())).toEqual(restored);
  expect(await place.standing()).toEqual(copies);
  const sent = place.sent().length;
  expect(outcomesOf(await place.moveToEnd())).toEqual(restored);
  expect(place.sent()).toHaveLength(sent);
});

test.each(deaths)(
  "processes are killed at every write when it %s: the last goes on to the same end",
  async (_what, fault) => {
    const isFirst = firstOfEach();
    let stop = new AbortController();
    const place = await startMove(two, {
      faultOf: (seen, write) => {
        if (write === 0 || !isFirst(seen)) return undefined;
        stop.abort(new Error("killed"));
        return fault;
      },
    });
    let killed = 0;
    for (; killed < 20; killed++) {
      stop = new AbortController();
      const moved = await place.move({ signal: stop.signal }).catch(() => undefined);
      if (moved && !stop.signal.aborted) break;
    }
    expect(killed).toBeGreaterThanOrEqual(kinds.length);
    expect(outcomesOf(await place.move())).toEqual(restored);
    expect(await place.standing()).toEqual(copies);
  },
);

/** Each alone, so that nothing hides behind another one. */
describe.each(writes.slice(0, rounds(0, writes.length)))("the %s, write %i", (kind, number) => {
  test.each(faults)("%s: everything is there once", async (_what, fault) => {
    const place = await startMove(two, { faultOf: (_, write) => (write === number ? fault : undefined) });
    // Only a later command may add chunks again after an answer that never came.
    expect(outcomesOf(await (kind === "chunks" ? place.moveToEnd() : place.move()))).toEqual(restored);
    expect(await place.standing()).toEqual(copies);
  });

  test.each(deaths)(
    "where a process is killed when it %s, the next one goes on to the same end",
    async (_what, fault) => {
      const stop = new AbortController();
      const place = await startMove(two, {
        faultOf: (_, write) => {
          if (write !== number) return undefined;
          stop.abort(new Error("killed"));
          return fault;
        },
      });
      await place.move({ signal: stop.signal }).catch(() => {});
      expect(place.sent()).toHaveLength(number);
      expect(outcomesOf(await place.move())).toEqual(restored);
      expect(await place.standing()).toEqual(copies);
    },
  );
});

test("a process that is killed before it noted that a document is done sends nothing more for it", async () => {
  const place = await startMove(two);
  await place.move();
  const sent = place.sent().length;
  expect(place.lines().at(-1)).toMatchObject({ kind: "document", state: "restored" });
  const moved = await place.move({ lines: place.lines().slice(0, -1) });
  expect([outcomesOf(moved), await place.standing()]).toEqual([restored, copies]);
  expect(
    place
      .sent()
      .slice(sent)
      .map((line) => line.replace(/.*\//, "")),
  ).toEqual([...["un_archive", "enable", "disable", "archive"]]);
});

test("a write that never gets through fails its document after three tries, and the next process goes on", async () => {
  let isDown = true;
  const place = await startMove(two, {
    faultOf: ({ path }, write) => (isDown && write > 0 && path.endsWith("create-by-text") ? "cut" : undefined),
  });
  const reason = /^one.txt: failed: the service did not make the document: POST .*the connection was closed$/;
  expect(outcomesOf(await place.move())).toEqual([expect.stringMatching(reason), expect.stringMatching(reason)]);
  expect(place.sent()).toHaveLength(7);
  isDown = false;
  expect(outcomesOf(await place.move())).toEqual(restored);
  expect(await place.standing()).toEqual(copies);
});

test("a document of which nobody knows whether it was made is not made again until that is known", async () => {
  let [isDown, tries] = [false, 0];
  const place = await startMove([{ contents: ["x"] }], {
    faultOf: ({ method, path }) => {
      if (path.endsWith("create-by-text") && tries++ === 0) isDown = true;
      return isDown ? (method === "GET" ? { status: 503, message: "busy" } : "lost") : undefined;
    },
  });
  const failed = /^one.txt: failed: it is not known whether the service did make the document: .*POST /;
  expect(outcomesOf(await place.move())).toEqual([expect.stringMatching(failed)]);
  expect(outcomesOf(await place.move())).toEqual([
    "one.txt: failed: the outcome of an earlier write to it is unknown; run the same command again later",
  ]);
  expect(place.sent()).toHaveLength(2);
  isDown = false;
  expect(outcomesOf(await place.move())).toEqual(["one.txt: restored"]);
  expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 x"]);
});

describe("a document that was made again after a lost answer", () => {
  test("is there once, even if the service makes the first one long after: its stub tells that it is ours", async () => {
    const place = await startMove([{ contents: ["x"] }], {
      faultOf: (_, write) => (write === 2 ? { late: 8 } : undefined),
    });
    expect(outcomesOf(await place.move())).toEqual(["one.txt: restored"]);
    expect(place.sent().filter((line) => line.endsWith("create-by-text"))).toHaveLength(2);
    expect(place.sent().at(-1)).toBe("DELETE /datasets/*/documents/*");
    expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 x"]);
    expect(outcomesOf(await place.move())).toEqual(["one.txt: restored"]);
  });

  test("is there once, even if the process that sent the first one was killed", async () => {
    const stop = new AbortController();
    const place = await startMove([{ contents: ["x"] }], {
      faultOf: (_, write) => {
        if (write === 2) stop.abort(new Error("killed"));
        return write === 2 ? { late: 8 } : undefined;
      },
    });
    await place.move({ signal: stop.signal }).catch(() => {});
    expect(outcomesOf(await place.move({ settle: 0 }))).toEqual(["one.txt: restored"]);
    expect(place.sent().filter((line) => line.endsWith("create-by-text"))).toHaveLength(2);
    expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 x"]);
  });

  test("is not confused with another one of its name that is being made", async () => {
    let tries = 0;
    const place = await startMove(two, {
      faultOf: async ({ method, path, body }) => {
        if (body.includes("from document a ") && tries++ === 0) return "cut";
        if (!body.includes("from document b ")) return undefined;
        await place.byOthers(method, path.replace("/v1", ""), JSON.parse(body)); // it is done
        await new Promise((resolve) => setTimeout(resolve, 300)); // the first document comes to its end meanwhile
        return "cut";
      },
    });
    expect(outcomesOf(await place.move({ concurrency: 2 }))).toEqual(restored);
    expect(await place.standing()).toEqual(copies);
  });

  test("is partial where somebody else made one of its name: that is not deleted", async () => {
    const place = await startMove([{ contents: ["x"] }], {
      faultOf: async ({ path }, write) => {
        const dataset = path.split("/")[3];
        const theirs = { name: "one.txt", text: "theirs" };
        if (write === 4) await place.byOthers("POST", `/datasets/${dataset}/document/create-by-text`, theirs);
        return write === 2 ? "cut" : undefined;
      },
    });
    const reason = /^one.txt: partial: document .* there may be a second copy of it: look at it, and delete it$/;
    expect(outcomesOf(await place.move())).toEqual([expect.stringMatching(reason)]);
    expect(outcomesOf(await place.move({ retryFailed: true }))).toEqual([expect.stringMatching(reason)]);
    expect(await place.standing()).toContain("    1 theirs");
  });
});
