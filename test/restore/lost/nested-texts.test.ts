import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { restoreLost } from "../../../src/restore/lost/restore-lost.js";
import { runJob } from "../../../src/run/run-job.js";
import { inFull, rounds } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { restoring } from "../restoring.js";
import { type Fault, type Seen, startFlaky } from "./flaky-service.js";
import { datasetId, documentId, segments, smallDatasets } from "./small-target.js";

const [long, short] = ["Open 9 to 5. Closed on Sundays.", "Closed on Sundays."];

/** A document to which a person added these texts; a re-index then removed them. */
async function lostTexts(sources: readonly string[], added: readonly string[]) {
  const folder = await testFolder();
  let faultOf: (seen: Seen) => Fault | undefined = () => undefined;
  const service = await startFlaky(smallDatasets(sources.map((content) => ({ content }))), {
    clock: () => new Date(),
    faultOf: (seen) => faultOf(seen),
  });
  const job = await jobFor(folder, {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    output: { dir: join(folder, "out"), formats: ["jsonl", "duckdb"] },
  });
  const run = () => runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } });
  await run();
  for (const content of added) await service.byOthers("POST", segments, { segments: [{ content }] });
  const { folder: backedUp } = await run();
  service.store.reindex(documentId, { seconds: 0 });
  return {
    texts: () => service.store.read(documentId).chunks.map(({ row }) => row.content),
    restore: () => restoreLost(restoring(backedUp, service.key)),
    /** Restores and ends like a killed process: the first write is done, but its answer is not read. */
    restoreBrokenOff: async () => {
      const broken = new AbortController();
      faultOf = ({ method }) => {
        if (method !== "GET") broken.abort(new Error("broken off"));
        return method === "GET" ? undefined : "lost";
      };
      const restored = restoreLost(restoring(backedUp, service.key, { signal: broken.signal }));
      await expect(restored).rejects.toThrow("broken off");
      faultOf = () => undefined;
    },
  };
}

const additions = [
  ["equal, and inside a third", [short, long, short]],
  ["one inside the other", [long, short]],
  ["the shorter one first", [short, long]],
  ["equal", [short, short]],
] as const;

describe.each(additions.slice(0, rounds(1, additions.length)))("texts that a person added, %s", (_, added) => {
  test.runIf(inFull)("come back when a restore continues one that was interrupted after its first write", async () => {
    const { texts, restore, restoreBrokenOff } = await lostTexts(["Hours"], added);
    await restoreBrokenOff();
    expect(texts()).toHaveLength(2);
    expect(await restore()).toMatchObject({ status: "proved", differences: [] });
    expect([...texts()].sort()).toEqual(["Hours", ...added].sort());
    expect((await restore()).status).toBe("nothing to restore");
    expect(texts()).toHaveLength(1 + added.length);
  });

  test.runIf(inFull)("come back although a chunk of the source also contains the shorter one", async () => {
    const source = `Hours. ${short}`;
    const { texts, restore } = await lostTexts([source], added);
    expect((await restore()).status).toBe("proved");
    expect([...texts()].sort()).toEqual([source, ...added].sort());
  });
});
