import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { jobFileNames } from "../../../src/client/failed-request.js";
import { Pace } from "../../../src/client/pace.js";
import type { WriteOutcome } from "../../../src/client/write/write-outcome.js";
import type { Writer, WriterOptions } from "../../../src/client/write/writer.js";
import { StopError } from "../../../src/errors.js";
import { inFull } from "../../rounds.js";
import { startProxy } from "../../servers/proxy.js";
import { JumpingClock } from "../jumping-clock.js";
import { everythingOf, rejection, testKey } from "../open-test-http.js";
import { deadUrl, serve } from "../serve.js";
import { answering, bodyOf, openTestWriter, place } from "./open-test-writer.js";

const chunk = { id: "new", content: "x", status: "completed", enabled: true, error: null };

const refusal = (status: number, message: string, code = "invalid_param") => ({ code, message, status });
const add = (writer: Writer) => writer.addChunk(place, { content: "x" }).send();

/** Adds one chunk to a server that gives this answer; returns the outcome. */
async function outcomeOf(answer: Parameters<typeof serve>[0], options: Partial<WriterOptions> = {}) {
  const { url, requests } = await serve(answer);
  const outcome = await add(openTestWriter(url, options));
  return { outcome, sent: requests.length, url };
}

describe("the four writes", () => {
  it.each<[string, (writer: Writer) => ReturnType<Writer["addChunk"]>, string, string, unknown]>([
    [
      "adds a chunk",
      (writer) => writer.addChunk(place, { content: "Ö", answer: "a", keywords: ["k"] }),
      "POST",
      "/datasets/set/documents/doc/segments",
      { segments: [{ content: "Ö", answer: "a", keywords: ["k"] }] },
    ],
    [
      "updates a chunk",
      (writer) => writer.updateChunk(place, "c/1", { content: "x", enabled: true, attachment_ids: ["f"] }),
      "POST",
      "/datasets/set/documents/doc/segments/c%2F1",
      { segment: { content: "x", enabled: true, attachment_ids: ["f"] } },
    ],
    [
      "adds a child chunk",
      (writer) => writer.addChild(place, "..", "x"),
      "POST",
      "/datasets/set/documents/doc/segments/%2E%2E/child_chunks",
      { content: "x" },
    ],
    [
      "updates a child chunk",
      (writer) => writer.updateChild(place, "c", "k", "x"),
      "PATCH",
      "/datasets/set/documents/doc/segments/c/child_chunks/k",
      { content: "x" },
    ],
  ])("%s", async (_, prepare, method, path, body) => {
    let text = "";
    const { url, requests } = await serve(async (request, response) => {
      text = await bodyOf(request);
      response.end(JSON.stringify({ data: chunk }));
    });
    const write = prepare(openTestWriter(url));
    expect(requests).toHaveLength(0); // nothing is sent yet, so that the caller can log the write first
    expect(write).toMatchObject({ method, path });
    expect(await write.send()).toEqual({
      kind: "done",
      value: { id: "new", status: "completed", enabled: true, error: "" },
    });
    expect([requests.length, requests[0]?.method, requests[0]?.url]).toEqual([1, method, `/v1${path}`]);
    expect(JSON.parse(text)).toEqual(body);
    expect(createHash("sha256").update(text).digest("hex")).toBe(write.sha256);
    expect(requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${testKey}`,
      "content-type": "application/json",
    });
  });
});

describe("the outcome of an answer", () => {
  it("reports a chunk that was stored and could not be indexed, without the key", async () => {
    const bad = { ...chunk, status: "error", enabled: false, error: `no model\nfor ${testKey}` };
    const { outcome } = await outcomeOf(answering(200, { data: [bad], doc_form: "text_model" }));
    expect(outcome).toEqual({
      kind: "done",
      value: { id: "new", status: "error", enabled: false, error: "no model for [key]" },
    });
  });

  it.each<[number, unknown, WriteOutcome<unknown>["kind"]]>([
    [400, refusal(400, "Content is empty"), "refused"],
    [401, refusal(401, "Access token is invalid", "unauthorized"), "refused"],
    [403, refusal(403, "Forbidden", "forbidden"), "refused"],
    [404, refusal(404, "Document is not completed.", "not_found"), "refused"],
    [413, "<title>413 Too Large</title>", "refused"],
    [302, "", "refused"],
    [408, refusal(408, "Request Timeout"), "unknown"],
    [500, refusal(500, "Internal Server Error"), "unknown"],
    [502, "<title>502 Bad Gateway</title>", "unknown"],
    [504, "<title>504 Gateway Time-out</title>", "unknown"],
    [503, refusal(503, "busy"), "unknown"],
    [204, "", "unknown"],
    [200, "<title>Welcome</title>", "unknown"],
    [200, { data: [] }, "unknown"],
    [200, { data: [chunk, chunk] }, "unknown"],
    [200, { data: { content: "x" } }, "unknown"],
    [201, { data: [] }, "unknown"],
    [202, { data: chunk }, "unknown"],
  ])("%i %j: %s, and it is sent once", async (status, body, kind) => {
    const headers: Record<string, string> = status === 302 ? { location: "/v2/elsewhere" } : {};
    const { outcome, sent } = await outcomeOf(answering(status, body, headers));
    expect([outcome.kind, sent]).toEqual([kind, 1]);
  });

  it.each([
    [500, refusal(500, "Child index failed", "child_chunk_indexing_error"), true],
    [500, "<title>500</title>", false],
    [504, refusal(504, "gateway", "timeout"), false],
  ])("%i %j: nothing of it can be done later: %s", async (status, body, isOver) => {
    expect((await outcomeOf(answering(status, body))).outcome).toMatchObject({ kind: "unknown", isOver });
  });

  it.each([
    [401, refusal(401, "No.", "unauthorized"), " (401 unauthorized No); create one under Knowledge → Service API"],
    [403, refusal(403, "No.", "forbidden"), "; may this key write to the dataset?"],
    [404, refusal(404, "Document is disabled.", "not_found"), "404 not_found Document is disabled."],
    [404, "<title>404 Not Found</title>", "; the service does not know this URL; check service.base_url"],
    [307, "", "; it redirects to https://kb.example.com/v1, which is not followed; check service.base_url"],
  ])("%i %j gives a hint only where it helps", async (status, body, end) => {
    const headers: Record<string, string> = status === 307 ? { location: "https://kb.example.com/v1" } : {};
    const { outcome } = await outcomeOf(answering(status, body, headers), { keySource: "the variable K" });
    expect("reason" in outcome && outcome.reason.endsWith(end) ? end : outcome).toBe(end);
  });

  it("names the setting of the address as the user knows it", async () => {
    const names = { ...jobFileNames, baseUrl: "--to" };
    const { outcome } = await outcomeOf(answering(404, "<title>404 Not Found</title>"), { names });
    expect(outcome).toMatchObject({ reason: expect.stringMatching(/; check --to$/) });
  });

  it("contains the text from the service, with the address and without the key", async () => {
    const { outcome, url } = await outcomeOf(answering(400, refusal(400, `Segment is indexing ${testKey}`)));
    const reason = `POST ${url}/datasets/set/documents/doc/segments: 400 invalid_param Segment is indexing [key]`;
    expect(outcome).toEqual({ kind: "refused", status: 400, message: "Segment is indexing [key]", reason });
  });
});

describe("a write without a whole answer", () => {
  it.each<[string, Parameters<typeof serve>[0]]>([
    ["a connection that is closed", (request) => request.socket.destroy()],
    [
      "an answer that breaks off",
      (request, response) => {
        response.writeHead(200, { "content-length": 100 }).write('{"data"');
        setTimeout(() => request.socket.destroy(), 20);
      },
    ],
    ["a body that is too long", answering(200, `{"data":"${"x".repeat(5_000)}"}`)],
  ])("may have been done: %s", async (_, answer) => {
    const { outcome, sent } = await outcomeOf(answer, { maxBody: 1_000 });
    expect([outcome.kind, sent]).toEqual(["unknown", 1]);
  });

  it("may have been done if it takes longer than the timeout", async () => {
    const { outcome, sent } = await outcomeOf(() => {}, { timeout: 0.1 });
    const reason = expect.stringContaining("no complete answer within 0.1 s");
    expect(outcome).toEqual({ kind: "unknown", isOver: false, reason });
    expect(sent).toBe(1);
  });

  it("was not done if the connection was refused", async () => {
    expect(await add(openTestWriter(await deadUrl()))).toMatchObject({ kind: "unsent" });
    const { url } = await serve(() => {});
    expect(await add(openTestWriter(url.replace("http:", "https:")))).toMatchObject({ kind: "unsent" });
  });

  it("was not done if a proxy made no tunnel, or is gone", async () => {
    const proxy = await startProxy(1, { login: "me:right" });
    const through = (url: string) => openTestWriter("http://kb.example.com/v1", { env: { HTTP_PROXY: url } });
    expect(await add(through(proxy.url))).toMatchObject({ kind: "unsent", reason: expect.stringContaining("407") });
    expect(await add(through((await deadUrl()).replace("/v1", "")))).toMatchObject({ kind: "unsent" });
  });

  it("stops if the certificate is not trusted, before anything is sent", async () => {
    const { url, requests } = await serve(answering(200, { data: [chunk] }), "one");
    expect(await rejection(add(openTestWriter(url)))).toBeInstanceOf(StopError);
    expect(requests).toHaveLength(0);
  });
});

describe("a service that limits the rate", () => {
  const planLimit = "Sorry, you have reached the knowledge base request rate limit of your subscription.";

  it.each([
    [429, refusal(429, "slow down"), { "retry-after": "7" }, 7_000],
    [403, refusal(403, planLimit, "forbidden"), { "retry-after": "2" }, 2_000],
  ])("%i: it waits as long as the service asks, and sends again", async (status, body, headers, wait) => {
    const clock = new JumpingClock();
    let answers = 0;
    const { outcome, sent } = await outcomeOf(
      (request, response) =>
        (answers++ < 2 ? answering(status, body, headers) : answering(200, { data: [chunk] }))(request, response),
      clock,
    );
    expect([outcome.kind, sent]).toEqual(["done", 3]);
    expect(clock.now()).toBeGreaterThanOrEqual(2 * wait);
  });

  it("that never accepts it: it was not done", async () => {
    const clock = new JumpingClock();
    const { outcome, sent } = await outcomeOf(answering(429, refusal(429, "no")), clock);
    expect([outcome.kind, sent]).toEqual(["throttled", 12]);
  });
});

describe("the signal", () => {
  it("lets nothing be sent that was not yet", async () => {
    const { url, requests } = await serve(answering(200, { data: [chunk] }));
    const reason = new Error("interrupted");
    expect(await rejection(add(openTestWriter(url, { signal: AbortSignal.abort(reason) })))).toBe(reason);
    expect(requests).toHaveLength(0);
  });

  it("leaves a write under way the time to be answered", async () => {
    const ended = new AbortController();
    const { outcome } = await outcomeOf(
      (_, response) => {
        ended.abort(new Error("interrupted"));
        setTimeout(() => response.end(JSON.stringify({ data: [chunk] })), 50);
      },
      { signal: ended.signal },
    );
    expect(outcome.kind).toBe("done");
  });

  it("cuts it off after that: it may have been done", async () => {
    const ended = new AbortController();
    const stop = () => ended.abort(new StopError("interrupted"));
    const { outcome } = await outcomeOf(stop, { signal: ended.signal, grace: 50 });
    expect(outcome).toEqual({ kind: "unknown", isOver: false, reason: "interrupted" });
  });
});

it("the key is in no outcome and no error", async () => {
  const echo = refusal(400, `bad ${testKey}`);
  const outcomes = [
    (await outcomeOf(answering(400, echo))).outcome,
    (await outcomeOf(answering(500, echo))).outcome,
    (await outcomeOf(answering(200, `{"data": ${testKey}`))).outcome,
    await add(openTestWriter(await deadUrl())),
  ];
  expect(everythingOf(outcomes).length).toBeGreaterThan(200);
  expect(everythingOf(outcomes)).not.toContain(testKey);
});

describe("a process that may have lost its place", () => {
  const held = (writer: Writer, beforeSend: () => Promise<void>) =>
    writer.addChunk(place, { content: "x" }).send({ beforeSend });

  it("is asked after the wait for its turn, and sends nothing if it has", async () => {
    const clock = new JumpingClock(0);
    const pace = new Pace(0.5);
    pace.take(clock.now()); // takes the turn of this moment, so the next turn is in two seconds
    const { url, requests } = await serve(answering(200, { data: [chunk] }));
    const writer = openTestWriter(url, { pace, now: clock.now, sleep: clock.sleep });
    const error = await rejection(
      held(writer, async () => {
        expect(clock.now()).toBeGreaterThan(1_900); // timers may be a few milliseconds late
        throw new Error("another restore has taken over");
      }),
    );
    expect([error.message, requests.length]).toEqual(["another restore has taken over", 0]);
  });

  it.runIf(inFull)("is asked again if the first byte leaves later than usual, as after a freeze", async () => {
    const { url, requests } = await serve(answering(200, { data: [chunk] }));
    let asked = 0;
    const outcome = await held(openTestWriter(url), async () => {
      if (++asked === 1) await new Promise((resolve) => setTimeout(resolve, 1_100));
    });
    expect([outcome.kind, asked, requests.length]).toEqual(["done", 2, 1]);
    const late = held(openTestWriter(url), async () => {
      if (++asked > 3) throw new Error("another restore has taken over");
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    });
    expect([(await rejection(late)).message, requests.length]).toEqual(["another restore has taken over", 1]);
  });

  it("sends a write without a check, however late its first byte leaves", async () => {
    let time = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => (time += 60_000)); // a minute passes between any two looks
    onTestFinished(() => clock.mockRestore());
    const { outcome, sent } = await outcomeOf(answering(200, { data: [chunk] }));
    expect([outcome.kind, sent]).toEqual(["done", 1]);
  });

  it("is asked before each send of a write that the service refuses for now", async () => {
    let refusals = 2;
    const clock = new JumpingClock(0);
    const { url, requests } = await serve((_, response) => {
      if (refusals-- > 0) response.writeHead(429, { "retry-after": "1" }).end("{}");
      else response.end(JSON.stringify({ data: [chunk] }));
    });
    let asked = 0;
    const writer = openTestWriter(url, { now: clock.now, sleep: clock.sleep });
    await held(writer, async () => void asked++);
    expect([asked, requests.length]).toEqual([3, 3]);
  });
});
