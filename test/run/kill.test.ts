import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { sampleSize } from "../../src/crawl/auto-child-lists.js";
import type { Manifest } from "../../src/dump/manifest.js";
import { finished, runKbdump, startKbdump } from "../cli/run-kbdump.js";
import { rounds } from "../rounds.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFile, testFolder } from "./job-for.js";

/** The number of rounds, with up to three kills each (one if there is a single round). `npm run test:kill` sets 100. */
const killRounds = rounds(1, 10, "KBDUMP_KILL_ROUNDS");
const concurrency = 4;
const isRows = ({ path }: { readonly path: string }) => /^(child_)?chunks\./.test(path);

/** The output options to test, each with a number of rounds. */
const outputs = [
  { name: "plain files", count: killRounds, output: { formats: ["jsonl", "csv", "duckdb"] } },
  {
    ...{ name: "compressed partitions", count: Math.min(6, killRounds) },
    output: { formats: ["jsonl", "csv", "parquet"], compress: "gzip", partition: "dataset" },
  },
];

test.each(outputs.slice(0, rounds(1, outputs.length)))(
  "kill -9 at random moments, $count times, with $name: the same bytes, few requests twice, nothing left over",
  async ({ count, output }) => {
    const store = new Store();
    const documents = Array.from({ length: 4 }, (_, at) =>
      makeDocument({
        chunks: 20 + at * 45,
        seed: at + 1,
        docForm: at % 2 === 0 ? "text_model" : "hierarchical_model",
        childrenPerChunk: (chunk) => (at === 2 ? 0 : chunk % 4),
      }),
    );
    const small = Array.from({ length: 10 }, (_, at) => makeDocument({ chunks: at % 3, seed: 10 + at }));
    const datasets = [store.addDataset(...documents.slice(0, 3), ...small), store.addDataset(...documents.slice(3))];
    const server = await startRealisticServer(store, { latency: 4 });
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const job = await jobFile(folder, {
      service: { base_url: server.url, concurrency },
      datasets: datasets.map(({ id, documents }) => ({ id, documents: [...documents.keys()] })),
      output: { ...output, dir: join(folder, "out") },
    });
    const place = join(folder, "out", "test");
    const contents = async (): Promise<ReadonlyMap<string, string>> => {
      const latest = join(place, "latest");
      const { files }: Manifest = JSON.parse(await readFile(join(latest, "manifest.json"), "utf8"));
      const read = async ({ path }: { readonly path: string }) =>
        [path, await readFile(join(latest, path), "latin1")] as const;
      return new Map(await Promise.all(files.filter(isRows).map(read)));
    };
    const env = { KNOWLEDGE_API_KEY: server.key };

    /** Makes a run that is not killed, then rounds of killed ones, which must leave the same files; returns the files of the first. */
    const killAgainAndAgain = async (childChunks: "all" | "auto") => {
      const args = ["run", job, "--quiet", "--child-chunks", childChunks];
      server.reset();
      const start = performance.now();
      expect(await runKbdump(args, env)).toMatchObject({ code: 0 });
      const takes = performance.now() - start;
      const undisturbed = await contents();
      const needed = server.requests.length;
      for (let round = 1; round <= Math.ceil(count / 2); round++) {
        await rm(place, { recursive: true });
        server.reset();
        const kills = 1 + Math.floor(Math.random() * (count === 1 ? 1 : 3));
        const moments: number[] = [];
        for (let kill = 0; kill < kills; kill++) {
          const child = startKbdump(args, env);
          const done = finished(child);
          moments.push(Math.round(Math.random() * takes));
          await sleep(moments.at(-1));
          child.kill("SIGKILL");
          await done;
        }
        const label = `${childChunks}, round ${round}, killed after ${moments} ms`;
        const { code, stderr } = await runKbdump(args, env);
        expect({ code, stderr }, label).toEqual({ code: 0, stderr: "" });
        expect(await contents(), label).toEqual(undisturbed);
        const complete = (await readdir(join(place, "runs"))).length;
        const sampled = childChunks === "auto" ? sampleSize * (documents.length + small.length) : 0;
        const inFlight = kills * (concurrency * 4 + sampled);
        expect(server.requests.length, label).toBeLessThanOrEqual(complete * (needed * 1.1 + inFlight));
        expect(await leftIn(join(place, ".work")), label).toEqual(["indexing_status"]);
      }
      await rm(place, { recursive: true });
      return { needed, undisturbed };
    };

    const all = await killAgainAndAgain("all");
    expect(all.undisturbed.size).toBe(output.partition ? 12 : 4);
    if (count === 1) return;
    const auto = await killAgainAndAgain("auto");
    expect(auto.undisturbed).toEqual(all.undisturbed);
    expect(auto.needed).toBeLessThan(all.needed * 0.6);
  },
  1_200_000,
);

/** The remaining entries in a folder, except empty locks of killed processes, which expire after two minutes. */
async function leftIn(folder: string): Promise<readonly string[]> {
  const left: string[] = [];
  for (const name of await readdir(folder))
    if (!/^lock\.[0-9a-f-]{36}$/.test(name) || (await stat(join(folder, name))).size > 0) left.push(name);
  return left;
}
