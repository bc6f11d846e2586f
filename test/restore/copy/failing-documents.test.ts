import { describe, expect, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";
import { inFull } from "../../rounds.js";
import { copyOfTwo, outcomesOf, startCopyRun, two } from "./start-copy-of-run.js";

const make = "POST /datasets/*/document/create-by-text";

describe("a target that is slow to index", () => {
  test.runIf(inFull)("is waited for, with longer and longer pauses", async () => {
    const place = await startCopyRun(two, { indexingTime: 100 });
    expect(outcomesOf(await place.copy({ concurrency: 2 }))).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
    expect(Math.max(...place.clock.waits)).toBe(5_000);
    expect(place.seen.filter(({ path }) => /\/documents\/[^/]+$/.test(path)).length).toBeGreaterThan(20);
  });

  test("is given up after 30 minutes without progress, and the next process continues", async () => {
    const place = await startCopyRun([{ contents: ["one"] }], { indexingTime: 100_000 });
    const reason = "the service does not index it: no progress for 30 minutes (waiting)";
    const sleep = (milliseconds: number) => place.clock.sleep(milliseconds * 20);
    expect(outcomesOf(await place.copy({ sleep }))).toEqual([`one.txt: failed: ${reason}`]);
    await place.clock.sleep(100_000_000);
    expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored"]);
    expect(place.sent().filter((line) => line === make)).toHaveLength(1);
    expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 one"]);
  });
});

test("a change of state that the service does not accept yet is tried again, until it does", async () => {
  let busy = 4;
  const refusal = { status: 400, message: "Document:two.txt is being indexed, please try again later" };
  const place = await startCopyRun(two, {
    faultOf: ({ path }) => (path.endsWith("/archive") && busy-- > 0 ? refusal : undefined),
  });
  expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored", "two.txt: restored"]);
  expect(await place.standing()).toEqual(copyOfTwo);
  expect(place.clock.waits.slice(-4)).toEqual([1_000, 2_000, 4_000, 8_000]);
});

test("a change of state that the service never accepts leaves the document partial", async () => {
  const refusal = { status: 400, message: "Document:two.txt is being indexed, please try again later" };
  const place = await startCopyRun(two, { faultOf: ({ path }) => (path.endsWith("/archive") ? refusal : undefined) });
  expect(outcomesOf(await place.copy())).toEqual([
    "one.txt: restored",
    expect.stringMatching(/^two.txt: partial: the service refused to archive it: PATCH .* 400 .* is being indexed/),
  ]);
});

test.runIf(inFull)(
  "a plugin daemon that is away for a while is waited for, and no chunk counts as faulty",
  async () => {
    let away = 3;
    const gone = { status: 400, code: "invalid_param", message: "Failed to request plugin daemon, url: plugin/x" };
    const place = await startCopyRun(two, {
      faultOf: ({ method, path }) => (method === "POST" && path.endsWith("/segments") && away-- > 0 ? gone : undefined),
    });
    const said: string[] = [];
    const log = (_: string, message: string) => void said.push(message);
    expect(outcomesOf(await place.copy({ log }))).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
    expect(said).toEqual([
      expect.stringMatching(/400 invalid_param Failed to request plugin daemon, .*; waiting for it$/),
    ]);
  },
);

describe("documents that fail", () => {
  test.runIf(inFull)(
    "do not stop the others and are tried again next time: a document that was never indexed is created again",
    async () => {
      let fails = true;
      const place = await startCopyRun(two, { indexingFails: (name) => fails && name === "one.txt" });
      const reason = "the service could not index it: Embedding failed: the model did not answer";
      const progress = emptyWriteProgress();
      expect(outcomesOf(await place.copy({ progress }))).toEqual([`one.txt: failed: ${reason}`, "two.txt: restored"]);
      expect(progress).toMatchObject({ documents: 2, documentsDone: 1, documentsFailed: 1 });
      fails = false;
      expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored", "two.txt: restored"]);
      expect(await place.standing()).toEqual([
        "dataset Copy",
        ...["  two.txt completed disabled archived", "    1 third"],
        ...["  one.txt completed", "    1 # first", "    2 second"],
      ]);
    },
  );

  test("because the service refuses them say so in its words; they were never made, and are tried again", async () => {
    const place = await startCopyRun([{ document_name: " ", document_id: "blank" }, ...two]);
    const [blank, ...others] = outcomesOf(await place.copy());
    expect(blank).toMatch(/^ : failed: the service refused to make the document: POST .*: 400 invalid_param /);
    expect(others).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(outcomesOf(await place.copy())[0]).toBe(blank);
  });

  test("for a reason that is gone the next time are made then", async () => {
    const place = await startCopyRun(two, {
      faultOf: (_, write) => (write === 2 || write === 3 ? { status: 400, message: "not now" } : undefined),
    });
    const [one, other] = outcomesOf(await place.copy());
    expect([one?.slice(0, 16), other?.slice(0, 16)]).toEqual(["one.txt: failed:", "two.txt: failed:"]);
    expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
  });

  test("because they are archived there fail alone, although the service answers 403", async () => {
    const archived = {
      status: 403,
      code: "archived_document_immutable",
      message: "The archived document is not editable.",
    };
    const place = await startCopyRun(two, { faultOf: (_, write) => (write === 3 ? archived : undefined) });
    expect(outcomesOf(await place.copy())).toEqual([expect.stringContaining("is not editable"), "two.txt: restored"]);
  });

  test("a key that is refused ends everything", async () => {
    const place = await startCopyRun(two, {
      faultOf: (_, write) => (write === 4 ? { status: 401, message: "no" } : undefined),
    });
    const copying = place.copy();
    await expect(copying).rejects.toThrow(StopError);
    expect(place.sent()).toHaveLength(4);
    expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
  });

  test("the signal ends everything, with its reason", async () => {
    const stop = new AbortController();
    const place = await startCopyRun(two, {
      faultOf: (_, write) => void (write === 3 && stop.abort(new Error("enough"))),
    });
    await expect(place.copy({ signal: stop.signal })).rejects.toThrow("enough");
    expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
  });
});

test("a 404 that does not come from the service does not make a document twice", async () => {
  let isAway = false;
  const notFound = { status: 404, code: "", message: "404 page not found" };
  const place = await startCopyRun([{ contents: ["one"] }], {
    faultOf: ({ method, path }, write) => {
      if (write === 4) return "cut"; // the document stays incomplete
      return isAway && method === "GET" && /\/documents\/[^/?]+(\?|$)/.test(path) ? notFound : undefined;
    },
  });
  expect(outcomesOf(await place.copy())).toEqual([expect.stringMatching(/^one.txt: failed: .*run the same command/)]);
  isAway = true;
  expect(outcomesOf(await place.copy())).toEqual([expect.stringMatching(/^one.txt: failed: .* 404 page not found/)]);
  isAway = false;
  expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored"]);
  expect(place.sent().filter((line) => line === make)).toHaveLength(1);
  expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 one"]);
});

test("a dataset is not created if every document is left out", async () => {
  const place = await startCopyRun([{ refused: "The run did not read all of it." }], { dataset: { tags: ["old"] } });
  expect(await place.copy()).toEqual({ documents: [], problems: [], writes: 0 });
  expect(place.sent()).toEqual([]);
});
