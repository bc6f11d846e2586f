import { expect, test } from "vitest";
import { counted, RequestCounts } from "../../src/client/request-counts.js";
import type { Answer } from "../../src/client/retry.js";

test("records the time since the last answer: a failure is not an answer, and an answer resets it", async () => {
  const progress = new RequestCounts();
  const ends: { answer: () => void; fail: () => void }[] = [];
  const send = counted(
    () =>
      new Promise<Answer>((resolve, reject) => {
        const answer = () => resolve({ url: "", status: 500, headers: {}, body: Buffer.of() });
        ends.push({ answer, fail: () => reject(new Error("no answer")) });
      }),
    progress,
    new AbortController().signal,
  );
  const ask = () => send({ path: "/x", query: [] }).catch(() => {});
  const before = performance.now();
  const first = ask();
  const since = progress.silentSince;
  expect(since).toBeGreaterThanOrEqual(before);
  const [second, third] = [ask(), ask()];
  ends[0]?.fail();
  await first;
  expect(progress).toMatchObject({ inFlight: 2, silentSince: since });
  ends[1]?.answer();
  await second;
  expect(progress.silentSince).toBeGreaterThan(since ?? 0);
  const later = progress.silentSince;
  ends[2]?.fail();
  await third;
  expect(progress).toMatchObject({ inFlight: 0, answered: 1, silentSince: later });
  const fourth = ask();
  expect(progress.silentSince).toBe(later);
  ends[3]?.answer();
  await fourth;
  expect(progress.silentSince).toBeUndefined();
});
