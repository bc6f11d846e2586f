import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { sampleSize } from "../../src/crawl/child-evidence.js";
import { finished, runKbdump, startKbdump } from "../cli/run-kbdump.js";
import { rounds } from "../rounds.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFile, testFolder } from "./job-for.js";

/** Rounds, each with up to three kills; `npm run test:kill` takes 100. */
const killRounds = rounds(1, 10, "KBDUMP_KILL_ROUNDS");
const concurrency = 4;
const files = ["chunks.jsonl", "child_chunks.jsonl", "chunks.csv", "child_chunks.csv"];

test(`kill -9 at random moments, ${killRounds} times: the same bytes, few requests twice, nothing left over`, async () => {
  const store = new Store();
  const dataset = store.addDataset(
    ...Array.from({ length: 4 }, (_, at) =>
      makeDocument({
        chunks: 20 + at * 45,
        seed: at + 1,
        docForm: at % 2 === 0 ? "text_model" : "hierarchical_model",
        childrenPerChunk: (chunk) => (at === 2 ? 0 : chunk % 4),
      }),
    ),
  );
  const server = await startRealisticServer(store, { latency: 4 });
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFile(folder, {
    service: { base_url: server.url, concurrency },
    datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()] }],
    output: { dir: join(folder, "out"), formats: ["jsonl", "csv", "duckdb"] },
  });
  const place = join(folder, "out", "test");
  const contents = () => Promise.all(files.map((name) => readFile(join(place, "latest", name), "utf8")));
  const env = { KNOWLEDGE_API_KEY: server.key };

  /** An undisturbed run, and then rounds of killed ones; gives what the first wrote. */
  const killAgainAndAgain = async (childChunks: "all" | "auto") => {
    const args = ["run", job, "--quiet", "--child-chunks", childChunks];
    server.reset();
    const start = performance.now();
    expect(await runKbdump(args, env)).toMatchObject({ code: 0 });
    const takes = performance.now() - start;
    const undisturbed = await contents();
    const needed = server.requests.length;
    for (let round = 1; round <= killRounds / 2; round++) {
      await rm(place, { recursive: true });
      server.reset();
      const kills = 1 + Math.floor(Math.random() * 3);
      const moments: number[] = [];
      for (let kill = 0; kill < kills; kill++) {
        const child = startKbdump(args, env);
        const done = finished(child);
        moments.push(Math.round(Math.random() * takes));
        await sleep(moments.at(-1));
        child.kill("SIGKILL");
        await done;
      }
      const told = `${childChunks}, round ${round}, killed after ${moments} ms`;
      const { code, stderr } = await runKbdump(args, env);
      expect({ code, stderr }, told).toEqual({ code: 0, stderr: "" });
      expect(await contents(), told).toEqual(undisturbed);
      const complete = (await readdir(join(place, "runs"))).length;
      const sampled = childChunks === "auto" ? sampleSize * dataset.documents.size : 0;
      const inFlight = kills * (concurrency * 4 + sampled);
      expect(server.requests.length, told).toBeLessThanOrEqual(complete * (needed * 1.1 + inFlight));
      expect(await readdir(join(place, ".work")), told).toEqual(["indexing_status"]);
    }
    await rm(place, { recursive: true });
    return { needed, undisturbed };
  };

  const all = await killAgainAndAgain("all");
  const auto = await killAgainAndAgain("auto");
  expect(auto.undisturbed).toEqual(all.undisturbed);
  expect(auto.needed).toBeLessThan(all.needed * 0.6);
}, 1_200_000);
