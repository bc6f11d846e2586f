import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runKbdump } from "../cli/run-kbdump.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { jobFile, testFolder } from "./job-for.js";
import { canMount, tinyDisk } from "./tiny-disk.js";

/** Disk sizes in kB: the first, and the increase for each try. Compressed files are small, so their steps are smaller. */
const cases = [
  {
    ...{ compress: "none", ending: "", formats: ["jsonl", "csv", "parquet", "duckdb"], first: 300, growth: 350 },
    steps: ["reading documents", "joining the parts", "writing jsonl, csv, parquet, duckdb"],
  },
  {
    ...{ compress: "gzip", ending: ".gz", formats: ["jsonl", "csv"], first: 2_100, growth: 60 },
    steps: ["joining the parts", "writing jsonl, csv"],
  },
];

test.runIf(canMount).each(cases)(
  "a disk that is full at any step, with compress: $compress: exit 1 and a clear message, nothing partial, and the next run continues",
  async ({ compress, ending, formats, first, growth, steps: expected }) => {
    const store = new Store();
    const documents = [
      makeDocument({ chunks: 420, seed: 1 }),
      makeDocument({ chunks: 200, seed: 2, childrenPerChunk: 1 }),
    ];
    const dataset = store.addDataset(...documents);
    const server = await startRealisticServer(store);
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const { path: disk, grow } = await tinyDisk(folder, first);

    const facts = {
      service: { base_url: server.url },
      datasets: [{ id: dataset.id, documents: documents.map(({ id }) => id) }],
    };
    const env = { KNOWLEDGE_API_KEY: server.key };
    const job = await jobFile(folder, { ...facts, output: { dir: join(folder, "out"), formats, compress } });
    expect(await runKbdump(["run", job, "--quiet"], env)).toMatchObject({ code: 0 });
    server.reset();

    const steps = new Set<string>();
    let size = first;
    for (; ; size += growth) {
      grow(size);
      const { code, stderr } = await runKbdump(["run", job, "--quiet", "--out", disk], env);
      if (code === 0) break;
      expect(code, stderr).toBe(1);
      const step = /^kbdump: the disk of \S+ is full \((.+)\)\. What was read is kept: .*\n$/.exec(stderr)?.[1];
      expect(step, stderr).toBeDefined();
      steps.add(step ?? "");
      expect((await readdir(join(disk, "test"))).filter((name) => name !== "metrics.prom")).toEqual([".work", "runs"]);
      expect(await readdir(join(disk, "test", "runs"))).toEqual([]);
      expect(size).toBeLessThan(60_000);
    }
    expect([...steps]).toEqual(expect.arrayContaining(expected));
    const lists = server.requests.filter(({ path }) => /(segments|child_chunks)$/.test(path));
    expect(lists.length).toBeLessThan(627 + 300);
    for (const name of ["chunks.jsonl", "child_chunks.jsonl", "chunks.csv", "child_chunks.csv"]) {
      const [there, here] = [join(disk, "test"), join(folder, "out", "test")].map((place) =>
        readFile(join(place, "latest", `${name}${ending}`)),
      );
      expect((await there)?.equals((await here) ?? Buffer.alloc(0)), name).toBe(true);
    }
    expect(await readdir(join(disk, "test", ".work"))).toEqual(["indexing_status"]);
  },
  300_000,
);
