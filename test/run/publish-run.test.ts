import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { cp, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mendLatest } from "../../src/database/job-database.js";
import { UsageError } from "../../src/errors.js";
import { runJob } from "../../src/run/run-job.js";
import { FolderStore } from "../../src/store/folder/folder-store.js";
import { foldersOf } from "../../src/store/folder/job-folders.js";
import { runHere } from "../cli/run-here.js";
import { query } from "../database/query.js";
import { inFull, rounds } from "../rounds.js";
import { addChunks } from "../servers/edits.js";
import { startPublishedPlace } from "./database/published-job.js";
import { workOf } from "./job-for.js";

test.runIf(inFull)(
  "a folder named latest that is a copy of a run is moved aside before the crawl, and the run continues",
  async () => {
    const { place, run, latest, warnings } = await startPublishedPlace(["jsonl"]);
    const first = await run();
    await cp(join(place, "latest"), join(place, "copy"), { recursive: true, dereference: true });
    for (const name of ["latest.aside", "latest.aside-2"]) {
      await rm(join(place, "latest"), { recursive: true });
      await cp(join(place, "copy"), join(place, "latest"), { recursive: true });
      const { manifest, status } = await run();
      expect([status, await latest()]).toEqual(["complete", manifest.run_id]);
      expect(warnings.at(-1)).toBe(
        `${join(place, "latest")} was a folder, a copy of run ${first.manifest.run_id}, where a link belongs: it was moved to ${join(place, name)}`,
      );
      expect(await readdir(join(place, name))).toContain("manifest.json");
    }
  },
);

test.each([
  ["a folder", (path: string) => mkdir(path), (path: string) => readdir(path), []],
  ["a file", (path: string) => writeFile(path, "mine"), (path: string) => readFile(path, "utf8"), "mine"],
])("%s at latest is moved aside before anything is asked, whosever it is", async (kind, make, look, found) => {
  const { place, run, latest, warnings, server } = await startPublishedPlace(["jsonl"]);
  const path = join(place, "latest");
  await mkdir(place, { recursive: true });
  await make(path);
  const asked: number[] = [];
  const { manifest } = await run({ log: (_level, text) => [warnings.push(text), asked.push(server.requests.length)] });
  expect(warnings).toEqual([`${path} was ${kind} where a link belongs: it was moved to ${path}.aside`]);
  expect(asked).toEqual([0]);
  expect(await look(`${path}.aside`)).toEqual(found);
  expect(await latest()).toBe(manifest.run_id);
});

test("something at latest that cannot be moved aside is named before anything is asked, and stays", async () => {
  const { job, place } = await startPublishedPlace(["jsonl"]);
  const owned = { ...foldersOf(job), own: join(place, "own") };
  const leased = { ...owned, store: new FolderStore(owned) };
  const path = join(leased.folder, "latest");
  for (const each of [leased.own, leased.runs, path]) await mkdir(each, { recursive: true });
  await writeFile(join(leased.own, "aside"), "in the way");
  const mended = mendLatest({ ...leased, lost: new AbortController().signal }, "test", () => {});
  await expect(mended).rejects.toThrow(UsageError);
  await expect(mended).rejects.toThrow(
    /latest is a folder where a link belongs, and it cannot be moved aside \(.*\)\. Move it away$/,
  );
  expect(await readdir(path)).toEqual([]);
});

test("leftovers at the path of the link do not matter", async () => {
  const { place, run, latest } = await startPublishedPlace(["jsonl"]);
  await mkdir(join(place, ".work", "latest", "inner"), { recursive: true });
  const onCommit = (state: string) => {
    if (state === "begun")
      for (const token of readdirSync(join(place, ".work")).filter((name) => name.includes("-")))
        mkdirSync(join(place, ".work", token, "latest", "inner"), { recursive: true });
  };
  const { manifest, problems } = await run({ onCommit });
  expect([problems, await latest()]).toEqual([[], manifest.run_id]);
});

test.runIf(inFull)(
  "a run whose database and latest cannot be replaced is published and partial; the next run mends both",
  async () => {
    const { place, job, file, server, run, latest, runsInDatabase } = await startPublishedPlace();
    const first = await run();
    const paths = [join(place, "test.duckdb"), join(place, "latest")];
    const onPublished = () => {
      for (const path of paths) {
        renameSync(path, `${path}.mine`);
        mkdirSync(path);
      }
    };
    const { manifest, status, problems, database } = await run({
      onCommit: (state) => (state === "done" ? onPublished() : undefined),
    });
    expect([manifest.status, status, database]).toEqual(["complete", "partial", undefined]);
    expect(problems).toEqual([
      expect.stringMatching(/test\.duckdb could not be replaced \(.* is not a file, .*\); the next run does it$/),
      expect.stringMatching(
        /^latest could not be moved to this run \(.*[^.]latest is a folder, where a link belongs\); the next run does it$/,
      ),
    ]);
    expect(await readFile(join(place, "metrics.prom"), "utf8")).toMatch(
      /^kbdump_last_run_status\{.*status="partial"\} 1$/m,
    );
    await expect(runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } })).rejects.toThrow(UsageError);
    for (const path of paths) {
      await rm(path, { recursive: true });
      await rename(`${path}.mine`, path);
    }
    const { code, stdout } = await runHere(["run", file, "--quiet", "--json"], { KNOWLEDGE_API_KEY: server.key });
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, status: "complete", problems: [] });
    expect(await runsInDatabase()).toEqual([first.manifest.run_id, manifest.run_id, await latest()]);
    expect(await readdir(join(place, ".work"))).toEqual(["indexing_status"]);
  },
);

/** Runs the built library in another process, which kills itself when the run folder is published. */
async function killedWhenPublished(file: string, key: string): Promise<void> {
  const script = `
    import { loadJob, run as runJob } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
    const job = await loadJob({ file: process.argv[1] }, {}, process.env);
    await runJob(job, { onCommit: (state) => state === "done" && process.kill(process.pid, "SIGKILL") });`;
  const env = { PATH: process.env.PATH, KNOWLEDGE_API_KEY: key };
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, file], { env, stdio: "inherit" });
  const [, signal] = await once(child, "exit");
  expect(signal).toBe("SIGKILL");
}

test.runIf(inFull).each([[["jsonl", "duckdb"]], [["duckdb"]]].slice(0, rounds(1, 2)))(
  "a run of %j that is killed right after its folder is in place: the next one brings database and latest up to date; a waiting database that cannot be read is kept aside, not deleted",
  async (formats) => {
    const { place, file, server, run, latest, runsInDatabase, documents, warnings } =
      await startPublishedPlace(formats);
    const first = await run();
    documents[0]?.chunks.pop();
    await killedWhenPublished(file, server.key);
    const second = (await readdir(join(place, "runs"))).sort().at(-1);
    expect(second).not.toBe(first.manifest.run_id);
    expect(await latest()).toBe(first.manifest.run_id);
    const killed = `${place}-killed`;
    await cp(place, killed, { recursive: true, verbatimSymlinks: true });

    const third = await run();
    expect(await runsInDatabase()).toEqual([first.manifest.run_id, second, third.manifest.run_id]);
    const changes = await query("SELECT run_id, change FROM chunk_changes", join(place, "test.duckdb"));
    expect(changes).toEqual([[second, "removed"]]);
    expect([await latest(), await readdir(join(place, ".work"))]).toEqual([third.manifest.run_id, ["indexing_status"]]);

    await rm(place, { recursive: true });
    await rename(killed, place);
    await writeFile(join(await workOf(join(place, ".work")), "scratch", "new.duckdb"), "broken");
    await run();
    expect(await readFile(join(place, "pending.duckdb.aside"), "utf8")).toBe("broken");
    expect(warnings).toContainEqual(expect.stringMatching(/cannot be read; it was moved to .*pending\.duckdb\.aside$/));
  },
);

test("an existing entry at the path of the run folder is never overwritten; the next run uses another id", async () => {
  const { place, run } = await startPublishedPlace(["jsonl"]);
  const time = new Date("2026-11-20T02:00:00Z");
  const taken = join(place, "runs", "20261120T020000000Z");
  let calls = 0;
  const now = () => {
    if (++calls > 3) mkdirSync(join(taken, "mine"), { recursive: true }); // by then the run has its id
    return time;
  };
  await expect(run({ now })).rejects.toThrow(`${taken} is there already, so this run cannot be published`);
  expect(await readdir(taken)).toEqual(["mine"]);
  const { manifest } = await run({ now: () => time });
  expect([manifest.run_id, manifest.status]).toEqual(["20261120T020000001Z", "complete"]);
  expect(await readdir(taken)).toEqual(["mine"]);
});

test.each(["metrics.prom", "test.duckdb", ".work/indexing_status/20260101T000000000Z-1.jsonl", ".work/lock"])(
  "a named pipe as %s is an error or a warning, never a wait",
  async (name) => {
    const { place, file, server } = await startPublishedPlace();
    await mkdir(join(place, ".work", "indexing_status"), { recursive: true });
    const path = join(place, name);
    spawnSync("mkfifo", [path]);
    const { stderr } = await runHere(["run", file], { KNOWLEDGE_API_KEY: server.key });
    expect(stderr).toContain(path);
    expect(stderr).toMatch(/is (a named pipe, )?not a file/);
    expect((await lstat(path)).isFIFO()).toBe(true);
  },
);

test.runIf(inFull)(
  "a run that needs more memory than DuckDB may use says which setting to raise; with it, the run resumes",
  async () => {
    const { file, server } = await startPublishedPlace(["jsonl", "parquet", "duckdb"], { memory: "4MB" });
    const env = { KNOWLEDGE_API_KEY: server.key };
    const { code, stderr } = await runHere(["run", file, "--quiet"], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(lack)]);
    await writeFile(file, (await readFile(file, "utf8")).replace("4MB", "100MB"));
    expect(await runHere(["run", file, "--quiet"], env)).toMatchObject({ code: 0 });
  },
);

const lack =
  "kbdump: DuckDB needs more than the 4MB that it may use: raise output.memory in the job file; 2 of 2 documents";

test.runIf(inFull).each([
  ["one huge row", 1, 2_400_000],
  ["many large rows", 12, 140_000],
])(
  "a document that DuckDB cannot take, with %s, is failed, and the others are published",
  async (_name, rows, numbers) => {
    const formats = ["jsonl", "csv", "parquet", "duckdb"];
    const { place, run, documents } = await startPublishedPlace(formats, { memory: "150MB" });
    const [first] = documents;
    const digits = Array.from({ length: numbers }, (_, at) => at % 10);
    while (first && first.chunks.length < rows) addChunks(first, 1, { children: 0, seed: first.chunks.length });
    for (const chunk of first?.chunks.slice(0, rows) ?? []) Object.assign(chunk, { numbers: digits });
    const { manifest } = await run();
    expect(manifest.status).toBe("partial");
    expect(manifest.documents.map(({ status, chunk_count }) => [status, chunk_count])).toEqual([
      ["failed", 0],
      ["complete", 5],
    ]);
    expect(manifest.documents[0]?.error).toMatch(
      /^DuckDB cannot load its rows with output.memory 150MB: Out of Memory/,
    );
    expect((await readFile(join(place, "runs", manifest.run_id, "chunks.jsonl"), "utf8")).match(/\n/g)).toHaveLength(5);
    expect(await query("SELECT count(*) FROM chunks", join(place, "test.duckdb"))).toEqual([["5"]]);
  },
  120_000,
);
