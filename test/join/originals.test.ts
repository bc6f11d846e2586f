import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findShards } from "../../src/join/find-shards.js";
import { joinShards } from "../../src/join/join-shards.js";
import type { RunResult } from "../../src/run/make-run.js";
import { runJob } from "../../src/run/run-job.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { give, jobOf, library, originalsOf, run } from "../originals/library.js";
import { inFull } from "../rounds.js";
import { allOf } from "../run/shards/sharding.js";
import { file } from "../servers/file-store.js";

test.runIf(inFull)(
  "joined shards have the originals of a single run, byte by byte, and the same verdicts",
  async () => {
    const place = await library(7);
    const { files, ids, datasets, store } = place;
    give(place, 1, "", { size: 7 });
    give(place, 2, "short", { size: 99 });
    files.files.delete("/3");
    give(place, 4, "original 4", { name: "../../evil\u0000.txt" });
    files.files.set("/files/one/file-preview", file("attached"));
    const both = [5, 6].flatMap((at) => datasets[0]?.documents.get(ids[at] ?? "") ?? []);
    for (const { chunks } of both)
      if (chunks[0])
        chunks[0].attachments = [
          { id: "one", name: "one.png", size: 8, source_url: `${files.url}/files/one/file-preview?sign=S` },
        ];
    store.addDataset(...both); // a second dataset with the same document ids, so that the folders need other names

    const whole = await run(place, { name: "whole" });
    const job = await jobOf(place);
    const env = { KNOWLEDGE_API_KEY: place.server.key };
    for (const shard of allOf(3)) await runJob({ ...job, shard }, { env });
    const joined = await joinShards(await findShards([join(place.folder, "out", job.name)], { env: {} }), { env: {} });

    expect(joined).toMatchObject({ status: "complete", problems: [] });
    expect(originalsOf(joined)).toEqual(originalsOf(whole));
    const of = (verdict: string) => originalsOf(joined).filter((original) => original.verdict === verdict).length;
    expect([of("complete"), of("missing"), of("wrong size")]).toEqual([10, 2, 1]);
    expect(await filesIn(joined)).toEqual(await filesIn(whole));
    expect(await filesIn(joined)).toHaveLength(11);
    expect(await verifyRun(joined.folder)).toMatchObject({
      status: "sound",
      findings: [],
      checked: { originals: 7, attachments: 4 },
    });
  },
);

/** The original files of a run: path and content, sorted by path. */
async function filesIn({ folder }: RunResult): Promise<readonly (readonly [string, string])[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => /^originals\/[^/]+\//.test(path)).sort();
  return Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path), "latin1")] as const));
}
