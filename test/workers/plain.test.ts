import { expect, test } from "vitest";
import { hasRedis } from "../servers/start-redis.js";
import { expectAsSingle, expectBounded, startEnvironment } from "./environment.js";

test.skipIf(!hasRedis)("two workers read everything, and their run has the bytes of a single one", async () => {
  const documents = 5;
  const environment = await startEnvironment(documents, 5);
  environment.server.reset();
  const workers = [environment.startWorker(), environment.startWorker()];
  const { code, stderr } = await environment.startCoordinator().ended;
  expect(code, stderr).toBe(0);
  const [, label = ""] = /workers have read: (.*)\n/.exec(stderr) ?? [];
  const read = [...label.matchAll(/ (\d+) documents?/g)].map(([, count]) => Number(count));
  expect(
    read.reduce((sum, count) => sum + count, 0),
    stderr,
  ).toBe(documents);
  for (const worker of workers) expect(await worker.end("SIGTERM")).toMatchObject({ code: 143, stdout: "" });
  await expectAsSingle(environment, "undisturbed");
  expectBounded(environment, "undisturbed");
});
