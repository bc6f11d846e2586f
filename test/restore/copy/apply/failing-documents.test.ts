import { describe, expect, test } from "vitest";
import { StopError } from "../../../../src/errors.js";
import { emptyCopyProgress } from "../../../../src/restore/copy/copy-result.js";
import { copyOfTwo, outcomesOf, startMove, two } from "./start-copy-of-run.js";

const make = "POST /datasets/*/document/create-by-text";

describe("a target that is slow to index", () => {
  test("is waited for, with longer and longer pauses", async () => {
    const place = await startMove(two, { indexingTime: 100 });
    expect(outcomesOf(await place.move({ concurrency: 2 }))).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
    expect(Math.max(...place.clock.waits)).toBe(5_000);
    expect(place.seen.filter(({ path }) => path.endsWith("/indexing-status")).length).toBeGreaterThan(20);
  });

  test("is given up after 30 minutes without any progress, and the next process goes on with --retry-failed", async () => {
    const place = await startMove([{ contents: ["one"] }], { indexingTime: 100_000 });
    const reason = "the service does not index it: nothing moved for 30 minutes (waiting)";
    const sleep = (milliseconds: number) => place.clock.sleep(milliseconds * 20);
    expect(outcomesOf(await place.move({ sleep }))).toEqual([`one.txt: failed: ${reason}`]);
    expect(outcomesOf(await place.move())).toEqual([`one.txt: waiting: ${reason}`]);
    await place.clock.sleep(100_000_000);
    expect(outcomesOf(await place.move({ retryFailed: true }))).toEqual(["one.txt: restored"]);
    expect(place.sent().filter((line) => line === make)).toHaveLength(1);
    expect(await place.standing()).toEqual(["dataset Copy", "  one.txt completed", "    1 one"]);
  });
});

test("a batch that the service has forgotten is no obstacle: the document itself tells how far it is", async () => {
  const notFound = { status: 404, code: "not_found", message: "Documents not found." };
  const place = await startMove(two, {
    faultOf: ({ path }) => (path.endsWith("/indexing-status") ? notFound : undefined),
  });
  expect(outcomesOf(await place.move())).toEqual(["one.txt: restored", "two.txt: restored"]);
  expect(await place.standing()).toEqual(copyOfTwo);
});

test("a change of state that the service does not take yet is tried again, until it does", async () => {
  let busy = 4;
  const refusal = { status: 400, message: "Document:two.txt is being indexed, please try again later" };
  const place = await startMove(two, {
    faultOf: ({ path }) => (path.endsWith("/archive") && busy-- > 0 ? refusal : undefined),
  });
  expect(outcomesOf(await place.move())).toEqual(["one.txt: restored", "two.txt: restored"]);
  expect(await place.standing()).toEqual(copyOfTwo);
  expect(place.clock.waits.slice(-4)).toEqual([1_000, 2_000, 4_000, 8_000]);
});

test("a change of state that the service never takes leaves the document partial", async () => {
  const refusal = { status: 400, message: "Document:two.txt is being indexed, please try again later" };
  const place = await startMove(two, { faultOf: ({ path }) => (path.endsWith("/archive") ? refusal : undefined) });
  expect(outcomesOf(await place.move())).toEqual([
    "one.txt: restored",
    expect.stringMatching(/^two.txt: partial: the service refused to archive it: PATCH .* 400 .* is being indexed/),
  ]);
});

describe("documents that fail", () => {
  test("do not stop the others, and are tried again with --retry-failed alone: what was never indexed is made anew", async () => {
    let fails = true;
    const place = await startMove(two, { indexingFails: (name) => fails && name === "one.txt" });
    const reason = "the service could not index it: Embedding failed: the model did not answer";
    const progress = emptyCopyProgress();
    expect(outcomesOf(await place.move({ progress }))).toEqual([`one.txt: failed: ${reason}`, "two.txt: restored"]);
    expect(progress).toMatchObject({ documents: 2, documentsDone: 1, documentsFailed: 1 });
    fails = false;
    expect(outcomesOf(await place.move())).toEqual([`one.txt: waiting: ${reason}`, "two.txt: restored"]);
    expect(outcomesOf(await place.move({ retryFailed: true }))).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual([
      "dataset Copy",
      ...["  two.txt completed disabled archived", "    1 third"],
      ...["  one.txt completed", "    1 # first", "    2 second"],
    ]);
  });

  test("because the service refuses them say so in its words; they were never made, and are tried again", async () => {
    const place = await startMove([{ document_name: " ", document_id: "blank" }, ...two]);
    const [blank, ...others] = outcomesOf(await place.move());
    expect(blank).toMatch(/^ : failed: the service refused to make the document: POST .*: 400 invalid_param /);
    expect(others).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(outcomesOf(await place.move())[0]).toBe(blank);
  });

  test("for a reason that is gone the next time are made then", async () => {
    const place = await startMove(two, {
      faultOf: (_, write) => (write === 2 || write === 3 ? { status: 400, message: "not now" } : undefined),
    });
    const [one, other] = outcomesOf(await place.move());
    expect([one?.slice(0, 16), other?.slice(0, 16)]).toEqual(["one.txt: failed:", "two.txt: failed:"]);
    expect(outcomesOf(await place.move())).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
  });

  test("because they are archived there fail alone, although the service answers 403", async () => {
    const archived = {
      status: 403,
      code: "archived_document_immutable",
      message: "The archived document is not editable.",
    };
    const place = await startMove(two, { faultOf: (_, write) => (write === 3 ? archived : undefined) });
    expect(outcomesOf(await place.move())).toEqual([expect.stringContaining("is not editable"), "two.txt: restored"]);
  });

  test("a key that is refused ends everything", async () => {
    const place = await startMove(two, {
      faultOf: (_, write) => (write === 4 ? { status: 401, message: "no" } : undefined),
    });
    const moving = place.move();
    await expect(moving).rejects.toThrow(StopError);
    expect(place.sent()).toHaveLength(4);
    expect(outcomesOf(await place.move())).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
  });

  test("the signal ends everything, with its reason", async () => {
    const stop = new AbortController();
    const place = await startMove(two, {
      faultOf: (_, write) => void (write === 3 && stop.abort(new Error("enough"))),
    });
    await expect(place.move({ signal: stop.signal })).rejects.toThrow("enough");
    expect(outcomesOf(await place.move())).toEqual(["one.txt: restored", "two.txt: restored"]);
    expect(await place.standing()).toEqual(copyOfTwo);
  });
});

test("a dataset of which every document is left out is not made", async () => {
  const place = await startMove([{ refused: "The run did not read all of it." }], { dataset: { tags: ["old"] } });
  expect(await place.move()).toEqual({ documents: [], problems: [], writes: 0 });
  expect(place.sent()).toEqual([]);
});
