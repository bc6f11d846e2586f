import { expect, test } from "vitest";
import type { NotifyUrls } from "../../src/job/job.js";
import { endNotice, eventOf, newRunKey, noticeUrl, startNotice } from "../../src/notify/notifier.js";
import { outcomeOf } from "./outcome-of.js";

const base = { url: "https://hc-ping.com/uuid" };
const urlsOf = (urls: NotifyUrls) =>
  (["start", "success", "partial", "failure"] as const).map((event) => noticeUrl(urls, event, "key"));

test.each<[string, NotifyUrls, (string | undefined)[]]>([
  [
    "url alone stands for all, by the convention of healthchecks.io",
    base,
    [
      "https://hc-ping.com/uuid/start?rid=key",
      "https://hc-ping.com/uuid?rid=key",
      "https://hc-ping.com/uuid/fail?rid=key",
      "https://hc-ping.com/uuid/fail?rid=key",
    ],
  ],
  [
    "a URL of its own comes first, and nothing is added to it",
    { ...base, start: "https://a.example/s", success: "https://a.example/y/", failure: "https://a.example/f?x=1" },
    ["https://a.example/s", "https://a.example/y/", "https://a.example/f?x=1", "https://a.example/f?x=1"],
  ],
  [
    "who names failures alone hears of partial runs, and of nothing else",
    { failure: "https://a.example/f" },
    [undefined, undefined, "https://a.example/f", "https://a.example/f"],
  ],
  ["partial alone", { partial: "https://a.example/p" }, [undefined, undefined, "https://a.example/p", undefined]],
  [
    "a path that ends in a slash, and a query",
    { url: "https://a.example/ping/x/?create=1" },
    ["/ping/x/start", "/ping/x", "/ping/x/fail", "/ping/x/fail"].map(
      (path) => `https://a.example${path}?create=1&rid=key`,
    ),
  ],
  [
    "no path",
    { url: "https://a.example" },
    ["/start", "/", "/fail", "/fail"].map((path) => `https://a.example${path}?rid=key`),
  ],
])("%s", (_name, urls, expected) => {
  expect(urlsOf(urls)).toEqual(expected);
});

test("the key of a run is a UUID, as healthchecks.io expects, and a new one each time", () => {
  expect(newRunKey()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newRunKey()).not.toBe(newRunKey());
});

test("an outcome is an event", () => {
  const events = (["complete", "partial", "failed", "interrupted"] as const).map((status) => eventOf({ status }));
  expect(events).toEqual(["success", "partial", "failure", "failure"]);
});

test("the bodies say what there is to say, as JSON", () => {
  expect(JSON.parse(startNotice("nightly", "20261120T020000000Z", "key", "json"))).toMatchObject({
    event: "start",
    job: "nightly",
    run_id: "20261120T020000000Z",
    rid: "key",
    status: "started",
    text: "kbdump nightly: started, run 20261120T020000000Z",
  });
  const outcome = outcomeOf({
    status: "partial",
    documents: { complete: 7, unstable: 1, failed: 2 },
    seconds: 1.23456,
  });
  expect(
    JSON.parse(endNotice({ ...outcome, failedDocuments: ["a", "b"], failedNames: ['"A" (a)', "b"] }, "key", "json")),
  ).toEqual({
    event: "partial",
    job: "nightly",
    run_id: "20261120T020000000Z",
    rid: "key",
    status: "partial",
    seconds: 1.235,
    counts: outcome.rows,
    documents_failed: 2,
    documents_unstable: 1,
    failed_documents: ["a", "b"],
    requests: { sent: 12, retried: 3, throttled: 1, bytes: 4567 },
    message: "what happened",
    tool: expect.stringMatching(/^kbdump \d/),
    text: 'kbdump nightly: partial: what happened: "A" (a), b',
  });
});

test.each([
  [{ message: "complete: 1 document" }, "kbdump nightly: complete: 1 document"],
  [{ status: "failed", message: "GET …: 401" }, "kbdump nightly: failed: GET …: 401"],
  [
    {
      status: "partial",
      message: "partial: 1 of 6 documents complete, 5 failed",
      failedNames: ["a", "b", "c", "d", "e"],
    },
    "kbdump nightly: partial: 1 of 6 documents complete, 5 failed: a, b, c, and 2 more",
  ],
  [
    { status: "partial", message: "partial: x", failedNames: ['"<!channel>" (a)'] },
    'kbdump nightly: partial: x: "‹!channel›" (a)',
  ],
] as const)("the text for people: %j", (more, text) => {
  expect(JSON.parse(endNotice(outcomeOf(more), "key", "json")).text).toBe(text);
});

test("for Teams, start and end are Adaptive Cards with the text", () => {
  const started = JSON.parse(startNotice("nightly", "r", "key", "teams"));
  const ended = JSON.parse(endNotice(outcomeOf(), "key", "teams"));
  for (const [message, text] of [
    [started, "kbdump nightly: started, run r"],
    [ended, "kbdump nightly: complete: what happened"],
  ]) {
    expect(message).toMatchObject({ type: "message", attachments: [{ contentUrl: null }] });
    const [{ contentType, content }] = message.attachments;
    expect(contentType).toBe("application/vnd.microsoft.card.adaptive");
    expect(content).toMatchObject({ type: "AdaptiveCard", body: [{ type: "TextBlock", text, wrap: true }] });
  }
});
