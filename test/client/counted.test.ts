import { expect, test } from "vitest";
import { counted, emptyRequestTally } from "../../src/client/request-tally.js";
import type { Answer } from "../../src/client/send.js";

test("the tally knows since when no answer came: a failure is none, an answer begins anew", async () => {
  const tally = emptyRequestTally();
  const ends: { answer: () => void; fail: () => void }[] = [];
  const send = counted(
    () =>
      new Promise<Answer>((resolve, reject) => {
        const answer = () => resolve({ url: "", status: 500, headers: {}, body: Buffer.of() });
        ends.push({ answer, fail: () => reject(new Error("no answer")) });
      }),
    tally,
    new AbortController().signal,
  );
  const ask = () => send({ path: "/x", query: [] }).catch(() => {});
  const before = performance.now();
  const first = ask();
  const since = tally.silentSince;
  expect(since).toBeGreaterThanOrEqual(before);
  const [second, third] = [ask(), ask()];
  ends[0]?.fail();
  await first;
  expect(tally).toMatchObject({ inFlight: 2, silentSince: since });
  ends[1]?.answer();
  await second;
  expect(tally.silentSince).toBeGreaterThan(since ?? 0);
  const later = tally.silentSince;
  ends[2]?.fail();
  await third;
  expect(tally).toMatchObject({ inFlight: 0, answered: 1, silentSince: later });
  const fourth = ask();
  expect(tally.silentSince).toBe(later);
  ends[3]?.answer();
  await fourth;
  expect(tally.silentSince).toBeUndefined();
});
