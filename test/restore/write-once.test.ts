import { expect, test } from "vitest";
import { SkipError, StopError } from "../../src/errors.js";
import { emptyWriteProgress } from "../../src/restore/result.js";
import { type Find, writeNow } from "../../src/restore/write-once.js";
import { deadUrl, serve } from "../client/serve.js";
import { openTestWriter } from "../client/write/open-test-writer.js";
import { memoryJournal } from "./copy/memory-journal.js";

/** The reaction of the service: a status, or a broken connection. */
type Answer = number | "cut";

const added = { id: "new", status: "completed", enabled: true, error: null };
const facts = { write: "update chunk", dataset_id: "set", document_id: "doc", rows: 1 } as const;
const nothing: Find = async () => undefined;
const gone = (status?: number) => new SkipError("not to be read", status === undefined ? {} : { status });

/** Adds a chunk to a server that gives these answers in turn, and then succeeds. */
async function execute(
  answers: readonly Answer[],
  find = nothing,
  more: { url?: string; tries?: number; write?: "add chunks" | "add child" } = {},
) {
  const left = [...answers];
  const { url, requests } = await serve((_, response) => {
    const answer = left.shift() ?? 200;
    if (answer === "cut") return void response.destroy();
    const body = answer === 200 ? { data: [added] } : { code: "its_code", message: "its words", status: answer };
    response.writeHead(answer, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  let time = 0;
  const sleep = async (milliseconds: number) => {
    time += milliseconds;
  };
  const { journal, noted } = memoryJournal();
  const stop = new AbortController();
  let writes = 0;
  const writer = openTestWriter(more.url ?? url, { sleep, now: () => time });
  const options = {
    ...{
      journal,
      writer,
      sleep,
      signal: stop.signal,
      settle: 60_000,
      lockTime: 600_000,
      concurrency: 1,
    },
    ...{ now: () => time, log: () => {}, api: {} as never, onWrite: () => writes++, progress: emptyWriteProgress() },
  };
  const place = { datasetId: "d", documentId: "doc" };
  const { url: _, tries, ...named } = more;
  const request = writer.addChunks(place, [{ content: "x" }]);
  const executed = writeNow(options, { facts: { ...facts, ...named }, request, find }, tries);
  const outcomes = () => noted.flatMap((line) => (line.kind === "outcome" ? [[line.outcome, ...line.ids]] : []));
  return { executed, requests, outcomes, journal, writes: () => writes, stop, time: () => time };
}

test("a finished write is logged with its result, and sent once", async () => {
  const { executed, requests, outcomes, writes } = await execute([]);
  expect(await executed).toEqual({
    kind: "done",
    value: [{ ...added, error: "" }],
    ids: ["new"],
    batch: null,
    isIndexed: null,
    wasLost: false,
  });
  expect([requests.length, writes(), outcomes()]).toEqual([1, 1, [["done", "new"]]]);
});

test("a write that the service refuses is not sent again", async () => {
  const { executed, requests, outcomes } = await execute([400]);
  expect(await executed).toMatchObject({ kind: "refused", status: 400, message: "its words", wasLost: false });
  expect([requests.length, outcomes()]).toEqual([1, [["refused"]]]);
});

test("a write that is refused after a lost answer is looked for once more: it may be done already", async () => {
  const late = await execute(["cut", 409], async () => (late.requests.length === 2 ? { ids: ["late"] } : undefined));
  expect(await late.executed).toMatchObject({ kind: "done", value: null, ids: ["late"], wasLost: true });
  expect(late.outcomes()).toEqual([["not done"], ["done", "late"]]);
  const never = await execute(["cut", 409]);
  expect(await never.executed).toMatchObject({ kind: "refused", status: 409, wasLost: true });
});

test.each([401, 403])("a key that is refused with %i ends everything", async (status) => {
  const { executed, outcomes } = await execute([status]);
  await expect(executed).rejects.toThrow(StopError);
  expect(outcomes()).toEqual([["refused"]]);
});

test("a lost answer is looked for, and a write that shows up late is not sent again", async () => {
  let looks = 0;
  const { executed, requests, outcomes } = await execute(["cut"], async () =>
    ++looks === 4 ? { ids: ["late"], batch: "b" } : undefined,
  );
  expect(await executed).toEqual({
    kind: "done",
    value: null,
    ids: ["late"],
    batch: "b",
    isIndexed: null,
    wasLost: true,
  });
  expect([requests.length, looks, outcomes()]).toEqual([1, 4, [["done", "late"]]]);
});

test("a write that never shows up is sent again only after all the time that it may take", async () => {
  const { executed, requests, outcomes, time } = await execute(["cut"]);
  expect(await executed).toMatchObject({ kind: "done", ids: ["new"], wasLost: true });
  expect([requests.length, outcomes(), time()]).toEqual([2, [["not done"], ["done", "new"]], 61_000]);
});

test("a write that the service itself broke off is looked for once", async () => {
  const { executed, outcomes, time } = await execute([500]);
  expect(await executed).toMatchObject({ kind: "done", wasLost: true });
  expect([outcomes(), time()]).toEqual([[["not done"], ["done", "new"]], 1_000]);
});

test("a write that never gets through is not done after three sends, or as many as the caller wants", async () => {
  const all = await execute(["cut", "cut", "cut", "cut"]);
  expect(await all.executed).toMatchObject({ kind: "not done", wasLost: true });
  expect([all.requests.length, all.writes()]).toEqual([3, 3]);
  const one = await execute(["cut", "cut"], nothing, { tries: 1 });
  expect([await one.executed, one.requests.length]).toMatchObject([{ kind: "not done" }, 1]);
});

test("a write without a connection surely did nothing: it is sent again after a wait, and not looked for", async () => {
  const find = async () => expect.unreachable("looked for");
  const { executed, outcomes, time } = await execute([], find, { url: await deadUrl() });
  expect(await executed).toMatchObject({ kind: "not done", wasLost: false });
  expect([outcomes(), time()]).toEqual([Array(6).fill(["not done"]), 31_000]);
});

test("while the service cannot be read, a lost answer is looked for on and on", async () => {
  let looks = 0;
  const { executed, requests } = await execute(["cut"], async () => {
    if (++looks < 3) throw gone(503);
    return { ids: ["late"] };
  });
  expect([await executed, requests.length]).toMatchObject([{ kind: "done", ids: ["late"] }, 1]);
});

test("a service that cannot be read until time is up leaves the write open, and nothing is sent again", async () => {
  const { executed, requests, journal } = await execute(["cut"], () => Promise.reject(gone(503)));
  expect([await executed, requests.length, journal.open.length]).toMatchObject([{ kind: "unknown" }, 1, 1]);
});

test("a place that is not there shows no write", async () => {
  const { executed, outcomes } = await execute(["cut"], () => Promise.reject(gone(404)));
  expect([await executed, outcomes()]).toMatchObject([{ kind: "done" }, [["not done"], ["done", "new"]]]);
});

test("a signal ends the search, and leaves the write open", async () => {
  const run = await execute(["cut"], async () => {
    run.stop.abort(new Error("enough"));
    run.stop.signal.throwIfAborted();
    return undefined;
  });
  await expect(run.executed).rejects.toThrow("enough");
  expect([run.requests.length, run.journal.open.length]).toEqual([1, 1]);
});

test.each([
  ["an add of chunks", "add chunks", "cut"],
  ["an add of a child", "add child", "cut"],
  ["an add of a child that a proxy gave up", "add child", 504],
] as const)(
  "%s that never shows up stays open, and is not sent again: the service may still do it",
  async (_, write, answer) => {
    const { executed, requests, journal, time } = await execute([answer], nothing, { write });
    const reason = expect.stringMatching(
      /an earlier add to this document may still complete until 1970-01-01T00:11:00.000Z; run the same command again after that$/,
    );
    expect(await executed).toEqual({ kind: "unknown", reason, wasLost: true });
    expect([requests.length, journal.open.length, time()]).toEqual([1, 1, 60_000]);
  },
);
