import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startPlace } from "../../run/shards/sharding.js";
import { hasRedis, startRedis } from "../../servers/start-redis.js";

/** Waits for a message, at most this many milliseconds. */
async function hear(said: readonly string[], text: string, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!said.some((line) => line.includes(text)) && performance.now() < end) await delay(50);
  expect(said.join("\n")).toContain(text);
}

test.skipIf(!hasRedis)("a run notices soon that a frozen broker is back, however long its silence was", async () => {
  const broker = await startRedis();
  onTestFinished(broker.stop);
  const { run } = await startPlace(2);
  const ends = new AbortController();
  const said: string[] = [];
  const log = (_level: string, text: string) => void said.push(text);
  const running = run({}, { workers: broker.url, log, signal: ends.signal }).catch(() => {});
  await hear(said, "no worker is connected: start one with kbdump worker ", 30_000);
  broker.signal("SIGSTOP");
  await hear(said, "does not answer: no document is handed out", 20_000);
  broker.signal("SIGCONT");
  await hear(said, "is back: documents are handed out again", 5_000);
  ends.abort(new Error("the test is over"));
  await running;
});
