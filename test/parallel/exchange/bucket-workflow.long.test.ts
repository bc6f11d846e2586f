import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownExchange, removeOtherExchanges } from "../../../src/parallel/open-exchange.js";
import { hasS3, startMoto } from "../../servers/start-s3.js";
import { keysBelow } from "../../store/bucket/bucket-helpers.js";
import { holdBucket, readInto, runId, take } from "./exchanges.js";

test.skipIf(!hasS3)(
  "a document goes through a bucket once, and a worker that wakes late leaves garbage that the next run removes",
  async () => {
    const store = await startMoto();
    try {
      const { folder, bucket, leased, openWorker } = await holdBucket(store);
      const own = await ownExchange(leased, runId);
      await own.write("plan.json", "{}");
      const [one, two] = [await openWorker("one"), await openWorker("two")];
      const read = [
        await readInto(await one.of(runId), "1", { "1.a": "rows" }),
        await readInto(await two.of(runId), "1", { "1.a": "rows" }),
      ] as const;
      const outcomes = await Promise.all(read.map(({ attempt, files }) => attempt.submit(files, attempt.token)));
      expect([...outcomes].sort()).toEqual(["first", "late"]);
      const { attempt, files } = read[outcomes[0] === "first" ? 0 : 1];
      expect(await own.names("results")).toEqual(["1.json"]);
      for (const file of files) expect(await take(own, attempt, file, join(folder, "taken"))).toBe(true);
      for (const each of read) await each.attempt.drop();
      expect(await readFile(join(folder, "taken"), "utf8")).toBe("rows");
      expect(await keysBelow(bucket, "exchange/")).toEqual(
        [`attempts/1.${attempt.token}/1.a`, "plan.json", "results/1.json"].map((key) => `exchange/${runId}/${key}`),
      );
      await own.remove();
      expect(await keysBelow(bucket, "exchange/")).toEqual([]);
      expect(await read[0].attempt.submit(files, "{}")).toBe("late");
      await bucket.put(`exchange/${runId}/results/2.json`, Buffer.from("late")); // from a worker that checked before the run ended
      await removeOtherExchanges(leased, "20261121T020000000Z");
      expect(await keysBelow(bucket, "exchange/")).toEqual([]);
      const closed = await one.of(runId);
      await one[Symbol.asyncDispose]();
      await expect(closed.begin("2.late")).rejects.toThrow("ENOENT");
      expect(await readdir(join(folder, "one", "test", ".work"))).toEqual([]);
    } finally {
      await store.stop();
    }
  },
);
