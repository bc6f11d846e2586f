import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { finished, startKbdump } from "../run-kbdump.js";
import { type DumpsInBucket, makeDumpsInBucket } from "./dumps-in-bucket.js";

const sql = "SELECT document_id, position, content FROM chunks ORDER BY ALL";

describe.skipIf(!hasS3)("a job in a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  /** The output of a command without the job's location and without times of the current run. */
  async function outputOf({ kbdump, job, dir }: DumpsInBucket, args: readonly string[]) {
    const { code, stdout, stderr } = await kbdump(args);
    const plain = (text: string) =>
      text
        .replaceAll(job, "JOB")
        .replaceAll(join(dir, "test"), "JOB")
        .replace(/"(age_seconds|seconds)":[\d.]+/g, '"$1":0');
    return { code, stdout: plain(stdout), stderr: plain(stderr) };
  }

  test("gives the same output as the job in a folder, for every command and every way to name the job", async () => {
    const dumps = await makeDumpsInBucket(store);
    const { job, dir, ids, machine } = dumps;
    const local = join(dir, "test");
    const commands = [
      ["list", "PLACE", "--json"],
      ["list", "PLACE"],
      ["verify", "PLACE", "--json"],
      ["verify", "PLACE", "--duckdb", "--json"],
      ["verify", `PLACE@${ids[0]}`, "--json"],
      ["verify", `PLACE/runs/${ids[0]}`],
      ["diff", "PLACE", "--json"],
      ["diff", `PLACE@${ids[0]}`, "PLACE", "--text"],
      ["sql", "PLACE", sql, "--json"],
      ["sql", "PLACE", "FROM runs SELECT run_id", "--format", "csv"],
      ["sql", `PLACE/runs/${ids[0]}`, sql, "--json"],
      ["sql", "PLACE/test.duckdb", sql],
      ["restore", `PLACE@${ids[0]}`, "--against", "PLACE", "--json"],
      ["restore", `PLACE/runs/${ids[0]}`, "--against", `PLACE@${ids[1]}`],
    ];
    for (const command of commands) {
      const at = (place: string) => command.map((word) => word.replace("PLACE", place));
      const inBucket = await outputOf(dumps, at(job));
      expect(inBucket, command.join(" ")).toEqual(await outputOf(dumps, at(local)));
      expect(inBucket.code, inBucket.stderr).toBeLessThan(5);
      expect(inBucket.code).not.toBe(1);
      expect(inBucket.code).not.toBe(2);
    }
    const whole = await dumps.kbdump(["sql", job, sql, "--format", "csv"]);
    for (const place of [[machine.file], ["test", "--out", dumps.environment.url], [`${job}/test.duckdb`]])
      expect(await dumps.kbdump(["sql", ...place.slice(0, 1), sql, "--format", "csv", ...place.slice(1)])).toEqual(
        whole,
      );
    const { runs } = await dumps.environment.head();
    const verified = await dumps.kbdump(["verify", `${job}/${runs[0]?.folder}`, "--json"]);
    expect(JSON.parse(verified.stdout)).toMatchObject({
      status: "sound",
      checked: { run_id: ids[0], folder: `${job}/runs/${ids[0]}` },
    });
  });

  test("is copied with folders for datasets, and with compressed files", async () => {
    const output = { formats: ["jsonl", "csv", "parquet"], partition: "dataset", compress: "gzip" };
    const dumps = await makeDumpsInBucket(store, output);
    for (const command of [
      ["sql", "PLACE@2", sql, "--json"],
      ["diff", "PLACE", "--json"],
      ["verify", "PLACE"],
    ]) {
      const at = (place: string) =>
        command.map((word) => word.replace("PLACE@2", `${place}@${dumps.ids[1]}`).replace("PLACE", place));
      const inBucket = await outputOf(dumps, at(dumps.job));
      expect(inBucket).toEqual(await outputOf(dumps, at(join(dumps.dir, "test"))));
      expect(inBucket.stdout).not.toBe("");
    }
  });

  test("is listed with the rules of the job file and the owner of a running job", async () => {
    const dumps = await makeDumpsInBucket(store, { keep: { last: 5 } });
    const { job, kbdump, environment, machine } = dumps;
    const { stdout } = await kbdump(["list", machine.file]);
    expect(stdout).toContain(`2 runs in ${job}`);
    expect(stdout).toContain("last");
    const all = await kbdump(["list", "--out", environment.url]);
    expect(all.stdout).toMatch(/^job .*\ntest /);
    expect((await kbdump(["list", job, "--max-age", "1h"])).code).toBe(0);
    const head = await environment.head();
    const found = await environment.bucket.read("head.json");
    const held = { ...head, beat: head.beat + 1, owner: { ...head.owner, released: false } };
    await environment.bucket.put("head.json", Buffer.from(JSON.stringify(held)), { etag: found?.etag ?? "" });
    const { at_work } = JSON.parse((await kbdump(["list", job, "--json"])).stdout).jobs[0];
    expect(at_work).toMatchObject({ pid: head.owner?.pid, host: head.owner?.host });
  });

  test("is served from its copy", async () => {
    const { job, env, environment } = await makeDumpsInBucket(store);
    const child = startKbdump(["serve", job, "--json"], env);
    const ended = finished(child);
    const [text] = await once(child.stdout ?? child, "data");
    const { base_url, key, run_id } = JSON.parse(String(text));
    expect(run_id).toBe((await environment.head()).latest);
    const answer = await fetch(`${base_url}/datasets?page=1&limit=20`, { headers: { authorization: `Bearer ${key}` } });
    expect(await answer.json()).toMatchObject({ total: 1 });
    child.kill("SIGINT");
    expect((await ended).code).toBe(0);
  });

  test("is compared with a run in a folder, and reported into the current folder with working commands", async () => {
    const dumps = await makeDumpsInBucket(store);
    const { job, dir, ids, kbdump, environment } = dumps;
    const mixed = await kbdump(["diff", join(dir, "test", "runs", ids[0]), job, "--json"]);
    expect(JSON.parse(mixed.stdout)).toMatchObject({
      status: "different",
      old: { folder: join(dir, "test", "runs", ids[0]) },
      new: { folder: `${job}/runs/${ids[1]}` },
    });
    const out = join(environment.folder, "report.html");
    const reported = await kbdump(["report", job, "--against", job, "--file", out, "--json"]);
    expect(JSON.parse(reported.stdout)).toMatchObject({
      path: out,
      run: { folder: `${job}/runs/${ids[1]}` },
      against: { folder: `${job}/runs/${ids[0]}` },
    });
    const page = await readFile(out, "utf8");
    const commands = [...page.matchAll(/<code>(kbdump [^<]+)/g)].map(([, command = ""]) => command);
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) expect(command).toMatch(new RegExp(`^kbdump \\w+ ${job}[/ ]`));
    expect(page).not.toContain(dumps.root);
    expect((await readdir(environment.folder)).filter((name) => name.endsWith(".html"))).toEqual(["report.html"]);
  });
});
