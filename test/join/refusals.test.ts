import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BusyError, InterruptedError, StopError, UsageError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { underLease } from "../under-lease.js";
import { startJoining } from "./joining.js";

/** The files that a join left: the names in the job folder, without the shards. */
const left = async (dir: string) => (await readdir(join(dir, "test"))).filter((name) => name !== "shards");

test.runIf(inFull)("a damaged shard is refused, with everything that is wrong, and nothing is written", async () => {
  const { runShards, joinJob, dir } = await startJoining();
  const [first, second, third] = await runShards(3);
  const change = async (folder = "", file = "", edit: (text: string) => string) => {
    const path = join(folder, file);
    await writeFile(path, edit(await readFile(path, "utf8")));
  };
  const sameSize = (text: string) => text.replace(/"position":\d/, '"position":9');
  await change(first?.folder, "chunks.jsonl", sameSize);
  await change(second?.folder, "list.json", (text) => text.replace("listed", "failed"));
  await rm(join(third?.folder ?? "", "child_chunks.jsonl"));
  const error = await joinJob().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StopError);
  const text = String(error);
  expect(text).toContain("The shards cannot be joined, and nothing was published:\n");
  expect(text).toMatch(/ chunks\.jsonl: has the SHA-256 \w+ instead of/);
  expect(text).toMatch(/list\.json: has the SHA-256 \w+ instead of/);
  expect(text).toContain("child_chunks.jsonl: is not there");
  expect(text.match(/nothing was joined/g)?.length).toBe(3);
  expect(await left(dir)).toEqual([]);
});

/** The manifest members that the tests change. */
interface Edited {
  readonly documents: Record<string, number>[];
  child_lists: unknown[];
}

test("manifests that are not sound, or do not fit the rows, are refused by name", async () => {
  const { runShards, joinJob } = await startJoining();
  const [one] = await runShards(1);
  const path = join(one?.folder ?? "", "manifest.json");
  const text = await readFile(path, "utf8");
  const refusalOf = async (edit: (manifest: Edited) => unknown) => {
    const manifest = JSON.parse(text);
    edit(manifest);
    await writeFile(path, JSON.stringify(manifest));
    return String(await joinJob().catch((reason: unknown) => reason));
  };
  const moved = (manifest: Edited) => {
    manifest.child_lists = [];
    const [first, second] = manifest.documents;
    if (!first || !second) return;
    for (const column of ["chunk_count", "total"])
      [first[column], second[column]] = [second[column] ?? 0, first[column] ?? 0];
  };
  expect(await refusalOf(moved)).toMatch(/chunks\.jsonl: document \S+ has \d+ rows, its chunk_count is \d+/);
  expect(await refusalOf((manifest) => Object.assign(manifest, { counts: {} }))).toContain("manifest.json: counts.");
});

test.runIf(inFull)(
  "a set that is not one run is refused at once: a shard that is missing, one of another plan",
  async () => {
    const { job, runShards, joinJob, run, shards, dir } = await startJoining(2);
    await runShards(2);
    await run({ shard: { index: 1, count: 2 }, consistency: "counts" });
    await rm(join(shards, "2-of-2"), { recursive: true });
    await expect(joinJob()).rejects.toThrow(
      /shard 2 of 2 is missing; make it: kbdump run test\.yaml --shard 2\/2 --out \S+out$/,
    );
    await run({ shard: { index: 2, count: 2 } });
    await expect(joinJob()).rejects.toThrow(
      /1-of-2\S+: it differs from \S+2-of-2\S+, the newest, in its plan and consistency; make it again: .*--shard 1\/2/,
    );
    expect(job.name).toBe("test");
    expect(await left(dir)).toEqual([]);
  },
);

test.runIf(inFull)("words that name no shards are wrong usage", async () => {
  const { run, joinJob, folder, dir, shards } = await startJoining(2);
  const refused = async (...words: readonly string[]) => {
    const error = await joinJob({}, [...words]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    return String(error);
  };
  const whole = await run();
  expect(await refused(whole.folder)).toContain("Only shards can be joined:\n");
  expect(await refused("nothing")).toContain("No such run or job:");
  await mkdir(join(folder, "empty", "shards"), { recursive: true });
  expect(await refused(join(folder, "empty"))).toContain("no shard has a run in ");
  await run({
    output: {
      dir,
      formats: ["duckdb"],
      bucket: undefined,
      keep: undefined,
      keepSignatures: false,
      csvSafe: false,
      compress: "none",
      partition: "none",
      metricsFile: undefined,
      memory: "500MB",
    },
  });
  expect(await refused(join(dir, "test", "test.duckdb"))).toContain("it is a file; expected the run folder of a shard");
  await run({ shard: { index: 1, count: 1 } });
  expect(await refused(`${join(dir, "test")}@20261120`)).toContain("it names one run of a job");
  await rename(join(shards, "1-of-1", "runs"), join(shards, "1-of-1", "other"));
  expect(await refused(join(dir, "test"))).toContain("no shard has a run in ");
});

test.runIf(inFull)(
  "with two divisions, the latest one is joined; shards from several folders are joined elsewhere",
  async () => {
    const { run, runShards, joinJob, folder, dir, shards } = await startJoining(4);
    await runShards(3);
    const segments = await runShards(2);
    const notes: string[] = [];
    const joined = await joinJob({ log: (level, text) => level === "warn" && notes.push(text) });
    expect(joined.shards.map(({ run_id }) => run_id)).toEqual(segments.map(({ manifest }) => manifest.run_id));
    expect(notes).toEqual([`${shards} has shards of 2 and of 3; those of 2 ran last, and are joined`]);
    const [first, second] = [join(folder, "a"), join(folder, "b")];
    await cp(join(shards, "1-of-2"), first, { recursive: true });
    await cp(segments[1]?.folder ?? "", second, { recursive: true });
    const elsewhere = await joinJob({ out: join(folder, "elsewhere"), format: ["csv"] }, [second, first]);
    expect(elsewhere.folder.startsWith(join(folder, "elsewhere", "test", "runs"))).toBe(true);
    expect(elsewhere.manifest.options.output.formats).toEqual(["csv"]);
    expect(elsewhere.manifest.counts).toEqual(joined.manifest.counts);
    const inPlace = await joinJob(
      {},
      segments.map((segment) => segment.folder),
    );
    expect(inPlace.folder).toBe(join(dir, "test", "runs", inPlace.manifest.run_id));
    expect((await run({ shard: { index: 1, count: 2 } })).status).toBe("complete");
  },
);

test.runIf(inFull)("a job that is held is busy, and an interruption publishes nothing", async () => {
  const { job, runShards, joinJob, dir } = await startJoining(2);
  await runShards(2);
  const options = { now: () => new Date(), log: () => {} };
  await underLease(job, options, async () => {
    await expect(joinJob()).rejects.toThrow(BusyError);
  });
  for (const step of ["checking shard 2 of 2", "joining the shards", "writing jsonl"]) {
    const stop = new AbortController();
    const reason = new InterruptedError("SIGTERM");
    const { emptyJoinProgress } = await import("../../src/join/join-shards.js");
    const progress = emptyJoinProgress();
    let at = progress.step;
    Object.defineProperty(progress, "step", {
      get: () => at,
      set: (next: string) => {
        at = next;
        if (next === step) stop.abort(reason);
      },
    });
    await expect(joinJob({ signal: stop.signal, progress })).rejects.toBe(reason);
    expect(await readdir(join(dir, "test", "runs")).catch(() => [])).toEqual([]);
  }
  expect((await joinJob()).status).toBe("complete");
});
