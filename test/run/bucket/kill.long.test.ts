import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { finished, runKbdump, startKbdump } from "../../cli/run-kbdump.js";
import { rounds } from "../../rounds.js";
import { hasS3, startMoto } from "../../servers/start-s3.js";
import { keysBelow } from "../../store/bucket/bucket-helpers.js";
import { openBucketEnvironment, stableTexts } from "./bucket-job.js";

const killRounds = rounds(2, 12, "KBDUMP_KILL_ROUNDS");

test.skipIf(!hasS3)(
  `kill -9 at random moments, ${killRounds} times: readers see whole runs, and the next run continues on any machine`,
  { timeout: 900_000 },
  async () => {
    const store = await startMoto();
    try {
      const environment = await openBucketEnvironment(store);
      const keep = { keep: { last: 3 } };
      const machines = [await environment.machine("one", keep), await environment.machine("two", keep)];
      const args = (at: number) => ["run", machines[at % 2]?.file ?? "", "--quiet"];
      const { env } = machines[0] as (typeof machines)[0];
      const start = performance.now();
      expect(await runKbdump(args(0), env)).toMatchObject({ code: 0 });
      const takes = performance.now() - start;
      const texts = await stableTexts(await environment.fetched((await environment.head()).latest ?? ""));
      for (let round = 1; round <= killRounds; round++) {
        const child = startKbdump(args(round), env);
        const ended = finished(child);
        const moment = Math.round(takes * (0.2 + Math.random() * 0.9));
        await sleep(moment);
        child.kill("SIGKILL");
        await ended;
        const label = `round ${round}, killed after ${moment} ms`;
        const { runs } = await environment.head();
        const last = runs.at(-1)?.run_id ?? "";
        expect(await stableTexts(await environment.fetched(last)), label).toEqual(texts);
        const { code, stderr } = await runKbdump(args(round + Math.floor(Math.random() * 2)), env);
        expect({ code, stderr }, label).toEqual({ code: 0, stderr: "" });
        const after = await environment.head();
        expect(after.latest, label).toBe(after.runs.at(-1)?.run_id);
        expect(await stableTexts(await environment.fetched(after.latest ?? "")), label).toEqual(texts);
        const folders = new Set(
          (await keysBelow(environment.bucket, "runs/")).map((key) => key.split("/", 2).join("/")),
        );
        expect(folders, label).toEqual(new Set(after.runs.map(({ folder }) => folder)));
        const known = await environment.inDatabase("SELECT run_id FROM runs");
        for (const { run_id } of after.runs) expect(known, label).toContain(run_id);
      }
    } finally {
      await store.stop();
    }
  },
);
