import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { testFolder } from "../run/job-for.js";
import { query } from "../run/read-dump.js";
import { type Finished, finished, startKbdump } from "./run-kbdump.js";

/** The two shell blocks of the recipe: what the first terminal is told, and the second. */
function recipe(): readonly [string, string] {
  const [, section = ""] = readFileSync("docs/reindex.md", "utf8").split("\n## Before a re-index, and after\n");
  const [first = "", second = ""] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  return [first, second];
}

/** The document of the sample data that the recipe has indexed anew. */
const manual = "1e63378f-0ff6-41a4-8f48-687d51b4e63d";

/** A folder with the job, made cheaper for the sake of time, and a `kbdump` that notes how it ended. */
async function newcomersFolder(): Promise<{ folder: string; path: string; noted: () => Promise<string> }> {
  const folder = await testFolder();
  await mkdir(join(folder, "jobs"));
  let job = await readFile("jobs/backup.yaml", "utf8");
  for (const [costly, cheap] of [
    ["documents: all", `documents: [${manual}]`],
    ["child_chunks: all", "child_chunks: auto"],
    ["formats: [jsonl, csv, parquet, duckdb]", "formats: [jsonl, duckdb]"],
  ] as const) {
    expect(job).toContain(costly);
    job = job.replace(costly, cheap);
  }
  await writeFile(join(folder, "jobs", "backup.yaml"), job);
  await mkdir(join(folder, "bin"));
  const program = join(folder, "bin", "kbdump");
  const run = `"${process.execPath}" "${resolve("dist/main.js")}" "$@"`;
  await writeFile(program, `#!/bin/sh\n${run}\ncode=$?\necho "$1 $code" >> "${folder}/noted"\nexit $code\n`);
  await chmod(program, 0o700);
  const path = [join(folder, "bin"), process.env.PATH].join(delimiter);
  return { folder, path, noted: () => readFile(join(folder, "noted"), "utf8") };
}

/** Starts what the first terminal is told, on a port that is free, and gives that port. */
async function serveDemo(command: string): Promise<string> {
  const [program, ...args] = command.trim().split(" ");
  expect(program).toBe("kbdump");
  const child = startKbdump(args.map((arg, at) => (args[at - 1] === "--port" ? "0" : arg)));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await once(child, "close");
  });
  const [text] = child.stdout ? await once(child.stdout, "data") : [];
  return /127\.0\.0\.1:(\d+)\/v1/.exec(String(text))?.[1] ?? "";
}

function shell(script: string, cwd: string, path: string): Promise<Finished> {
  const env = { PATH: path, HOME: process.env.HOME };
  return finished(spawn("sh", ["-c", script], { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
}

test("the recipe of docs/reindex.md shows the owner of a knowledge base what a re-index lost", async () => {
  const [first, second] = recipe();
  const { folder, path, noted } = await newcomersFolder();
  const port = await serveDemo(first);
  const script = second.replaceAll(":8080/", `:${port}/`).replace(/(demo\/reindex\/[-0-9a-f]+)/, "$1?seconds=1");
  const { code, stdout, stderr } = await shell(script, folder, path);

  expect((await noted()).trimEnd().split("\n"), stderr).toEqual(["run 0", "status 0", "run 0", "diff 4"]);
  expect(code).toBe(4);
  expect(stdout.match(/^complete: 1 document, 7\d\d chunks/gm)).toHaveLength(2);
  expect(stdout).toMatch(/^completed: 1 document in /m);
  expect(stdout).toMatch(new RegExp(`^${manual} +0 +19 +18 `, "m")); // added, removed, changed
  expect(stdout).toContain("37 of them made by hand");
  const places = ["Lost by the re-index, made by hand:", "edited by hand", "Other differences:"];
  expect(places.map((text) => stdout.indexOf(text)).every((at, index, all) => at > (all[index - 1] ?? 0))).toBe(true);
  const readings = await query(
    "SELECT indexing_status AS s, total_segments::INT AS n FROM indexing_status ORDER BY captured_at",
    join(folder, "output", "backup", "backup.duckdb"),
  );
  expect(readings.at(-1)).toEqual({ s: "completed", n: 721 });
}, 180_000);
