import { expect, test } from "vitest";
import { SkipError } from "../../../src/errors.js";
import { watchIndexing } from "../../../src/restore/copy/copy-document.js";
import { JumpingClock } from "../../client/jumping-clock.js";
import { openTestClient } from "../../client/open-test-client.js";
import { rejection } from "../../client/open-test-http.js";
import { serve } from "../../client/serve.js";

const place = { datasetId: "set", documentId: "doc" };
const usual = { id: "doc", indexing_status: "indexing", completed_segments: 0, total_segments: 100 };

/** Watches a document that goes through these states and stays in the last one. */
async function watch(states: readonly object[], slowness = 1) {
  const clock = new JumpingClock();
  let at = 0;
  const { url, requests } = await serve((_, response) => {
    response.end(JSON.stringify({ ...usual, ...states[Math.min(at++, states.length - 1)] }));
  });
  const { signal } = new AbortController();
  const api = openTestClient(url);
  const sleep = (milliseconds: number) => clock.sleep(milliseconds * slowness);
  return { clock, requests, watching: watchIndexing({ api, now: clock.now, sleep, signal }, place) };
}

test("a document is ready once it is completed; the pauses grow", async () => {
  const { clock, watching, requests } = await watch([{}, {}, {}, {}, {}, {}, {}, { indexing_status: "completed" }]);
  await watching;
  expect(clock.waits).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  expect(requests).toHaveLength(8);
});

test.each([
  [{ indexing_status: "error", error: "no credit" }, "the service could not index it: no credit"],
  [{ indexing_status: "error", error: null }, "the service could not index it"],
  [{ indexing_status: "error", error: "x".repeat(900) }, `the service could not index it: ${"x".repeat(300)}…`],
  [{ indexing_status: "paused" }, "its indexing is paused at the service: resume it there, then restore again"],
])("a document whose state is %j is not waited for", async (state, message) => {
  const error = await rejection((await watch([{}, state])).watching);
  expect([error instanceof SkipError, error.message]).toEqual([true, message]);
});

test("it waits as long as a document makes progress, and 30 minutes for one that does not", async () => {
  const states = Array.from({ length: 20 }, (_, done) => ({ completed_segments: done }));
  const { clock, watching } = await watch(states, 200);
  await expect(watching).rejects.toThrow("the service does not index it: no progress for 30 minutes (indexing)");
  expect(clock.now()).toBeGreaterThan(4 * 60 * 60_000);
});
