import { expect, test } from "vitest";
import { inFull } from "../rounds.js";
import { startJoining } from "./joining.js";

test.runIf(inFull)(
  "shards that are older than the newest run are joined with a warning, and the same shards again with none",
  async () => {
    const { run, runShards, joinJob, dir, job } = await startJoining(2);
    await runShards(2);
    const warned: string[] = [];
    const log = (level: string, text: string) => void (level === "warn" && warned.push(text));
    await joinJob({ log });
    await joinJob({ log });
    expect(warned).toEqual([]);
    const { manifest } = await run({ output: { ...job.output, dir } });
    expect((await joinJob({ log })).status).toBe("complete");
    expect(warned).toEqual([
      `run ${manifest.run_id} read the service after these shards did: latest and the database go back to what the shards read. Make the shards again, and join those`,
    ]);
  },
);
