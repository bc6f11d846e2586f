import { describe, expect, test } from "vitest";
import { hasRedis } from "../../servers/start-redis.js";
import { startPlace } from "../shards/sharding.js";
import { useBroker } from "./working.js";

const brokerOfAll = useBroker();

describe.skipIf(!hasRedis)("runs with workers that end before all is read", () => {
  test("the service does not take the key of the run: it ends at once, and does not wait for workers", async () => {
    const { store, run } = await startPlace(4);
    const datasets = [...store.datasets.values()].map(({ id, documents }) => ({
      ...{ id, documents: [...documents.keys()], batches: [], status: [], keyword: undefined },
    }));
    const begun = performance.now();
    const env = { KNOWLEDGE_API_KEY: "dataset-wrong" };
    await expect(run({ datasets }, { workers: brokerOfAll().url, env })).rejects.toThrow(/401 unauthorized/);
    expect(performance.now() - begun).toBeLessThan(9_000); // a new broker lets nobody send for 5 s
  });
});
