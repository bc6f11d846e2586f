import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";
import { loadJob } from "../../src/job/load-job.js";
import { endNotice, startNotice } from "../../src/notify/notifier.js";
import { readPlanFile } from "../../src/restore/lost/plan-file.js";
import { type Block, blocksOf, placeOf } from "../documentation.js";
import { outcomeOf } from "../notify/outcome-of.js";
import { keys, openKbdump } from "../pseudo-terminal.js";
import { query } from "../run/read-dump.js";
import { outputLike, shapeProblem } from "./likeness.js";
import type { Printed, Shell } from "./shell.js";

/** A page whose blocks are being checked in order. */
export interface Page {
  readonly folder: string;
  readonly shell: Shell;
  /** The output of the last shell block. */
  printed: Printed | undefined;
}

type Check = (block: Block, page: Page) => Promise<void>;

/** One check per language. A block in any other language fails, so that every block is checked. */
export const checks: Readonly<Record<string, Check>> = {
  sh: runShell,
  console: askAtTerminal,
  text: checkText,
  json: checkJson,
  yaml: checkYaml,
  sql: runSql,
  ts: runTypeScript,
  python: async () => {}, // python.long.test.ts runs them if Python is installed
  cron: runCron,
  ini: (block) => expectPartOf(block, ["systemd/kbdump.service", "systemd/kbdump.timer"]),
  mermaid: async () => {}, // import-rules.test.ts compares it with the import graph
  dockerfile: (block) => expectPartOf(block, ["container/Dockerfile"]),
};

async function runShell(block: Block, page: Page): Promise<void> {
  page.printed = await page.shell.run(block.text);
  const { code, stderr } = page.printed;
  expect(code, `${placeOf(block)} ended with ${code}:\n${stderr}`).toBe(0);
}

/** Runs an interactive command at a terminal: expects its first question, then ends it with Ctrl-C. */
async function askAtTerminal({ text }: Block): Promise<void> {
  const [program, ...args] = text.trim().split(" ");
  expect(program).toBe("kbdump");
  const terminal = openKbdump(args, { cwd: await mkdtemp(join(tmpdir(), "kbdump-ask-")) });
  await terminal.shows("◆  ");
  terminal.type(keys.ctrlC);
  expect(await terminal.ended).toBe(130);
}

/** Checks a text block: the output of the block before, the tree of a job folder, the folders of src, or the output of `plan`. */
async function checkText(block: Block, page: Page): Promise<void> {
  if (block.text.startsWith("output/<job>/")) return checkTree(block, page);
  if (page.printed) {
    const { pattern, plain } = outputLike(block.text);
    return expect(plain(page.printed.stdout), placeOf(block)).toMatch(pattern);
  }
  const known = block.page === "CONTRIBUTING.md" ? await readdir("src") : await wordsOfPlan(page);
  expect(
    wordsOf(block.text).filter((word) => !known.includes(word)),
    placeOf(block),
  ).toEqual([]);
}

const wordsOf = (text: string): readonly string[] => text.match(/[a-z_]{2,}/gi) ?? [];

/** All words that `plan` prints for the sample data, which covers every case. */
async function wordsOfPlan({ shell }: Page): Promise<readonly string[]> {
  const { stdout } = await shell.run("kbdump plan jobs/demo.yaml\n");
  return [...wordsOf(stdout), "nightly"];
}

/** Checks that the tree on the page and the folder have the same files. */
async function checkTree(block: Block, { folder }: Page): Promise<void> {
  const job = join(folder, "output", "nightly");
  const real = [...(await readdir(job)), ...(await readdir(join(job, "latest")))];
  const named: readonly string[] =
    block.text.replaceAll("<job>", "nightly").match(/[\w.]+\.\w+|latest|runs(?=\/)/g) ?? [];
  expect(
    named.filter((name) => !real.includes(name)),
    placeOf(block),
  ).toEqual([]);
  const others = real.filter((name) => !named.includes(name) && !/\.(csv|parquet)$/.test(name));
  expect(others, `${placeOf(block)} does not show these`).toEqual([".work"]);
}

/** Checks JSON: the output of the block before, the last line of a log, or the body of a notification. */
async function checkJson(block: Block, { folder, printed }: Page): Promise<void> {
  const logs = (await readdir(folder)).filter((name) => name.endsWith(".log"));
  const texts = await Promise.all(logs.map((name) => readFile(join(folder, name), "utf8")));
  const candidates = [
    ...[printed?.stdout ?? "", ...texts].flatMap((text) => [text, text.trimEnd().split("\n").at(-1) ?? ""]),
    startNotice("nightly", "", "", "json"),
    endNotice(outcomeOf(), "", "json"),
  ].flatMap(parsed);
  const shown: unknown = JSON.parse(block.text);
  const problems = candidates.map((real) => shapeProblem(shown, real));
  expect(problems, `${placeOf(block)} is like nothing that is written`).toContain(undefined);
}

function parsed(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

const job = {
  service: { base_url: "https://kb.example.com/v1" },
  datasets: [{ id: "7f0c9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f", documents: "all" }],
};

/** Checks YAML: part of a file in jobs/, a Prometheus alert, a job file (its name is on the first line), or a part of one. */
async function checkYaml(block: Block, page: Page): Promise<void> {
  const manifests = ["cronjob.yaml", "indexed-job.yaml"].map((name) => readFile(`jobs/kubernetes/${name}`, "utf8"));
  if ((await Promise.all(manifests)).some((text) => text.includes(block.text))) return;
  const value = parse(block.text);
  if ("groups" in value) return checkAlert(value, page);
  if ("rows" in value) return checkPlanFile(block, page);
  const [, name] = /^# ([\w-]+\.yaml)\n/.exec(block.text) ?? [];
  const file = join(page.folder, name ?? "piece.yaml");
  const whole = name === undefined ? JSON.stringify({ ...job, ...value }) : await page.shell.adapted(block.text);
  await writeFile(file, whole);
  const url = "https://hc-ping.com/uuid";
  await loadJob({ file }, {}, { NOTIFY_URL: url, SLACK_URL: url, TEAMS_URL: url });
}

/** Reads a plan file of a restore as the command does. */
async function checkPlanFile({ text }: Block, { folder }: Page): Promise<void> {
  const file = join(folder, "plan.yaml");
  await writeFile(file, text);
  const { run, rows } = parse(text);
  const decisions = await readPlanFile(file, run);
  const shown = rows.map(({ id, restore, now }: Record<string, unknown>) => [id, { restore: restore === "yes", now }]);
  expect([...decisions]).toEqual(shown);
  expect(shown.length).toBeGreaterThan(0);
}

async function checkAlert(value: unknown, { folder }: Page): Promise<void> {
  expect(value).toEqual({
    groups: [{ name: "kbdump", rules: [{ alert: expect.any(String), expr: expect.any(String) }] }],
  });
  const metrics = await readFile(join(folder, "output", "nightly", "metrics.prom"), "utf8");
  for (const name of JSON.stringify(value).match(/kbdump_\w+/g) ?? []) expect(metrics).toContain(`# TYPE ${name} `);
}

/** Runs a query on the demo database if the page made one, or else on the usual database; it must return rows. */
async function runSql(block: Block, { folder }: Page): Promise<void> {
  const [demo = "", usual = ""] = ["demo", "nightly"].map((name) => join(folder, "output", name, `${name}.duckdb`));
  const database = existsSync(demo) ? demo : usual;
  const sql = block.text.replaceAll("'output/", `'${folder}/output/`);
  const rows = await query(sql, /^ATTACH/.test(sql) ? undefined : database);
  expect(rows.length, placeOf(block)).toBeGreaterThan(0);
}

/** Compiles all TypeScript of a page with every strict check, then runs it. */
async function runTypeScript(block: Block, page: Page): Promise<void> {
  if (!existsSync(join(page.folder, nameOf(block)))) await compile(block.page, page);
  await runShell({ ...block, text: `node ${nameOf(block)}\n` }, page);
}

const nameOf = ({ line }: Block): string => `example-${line}.mjs`;

async function compile(name: string, { folder, shell }: Page): Promise<void> {
  const files: string[] = [];
  for (const block of blocksOf(name).filter(({ language }) => language === "ts")) {
    const file = join(folder, nameOf(block).replace("mjs", "mts"));
    await writeFile(file, await shell.adapted(block.text));
    files.push(file);
  }
  const strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noUnusedLocals"];
  strict.push("--noPropertyAccessFromIndexSignature", "--noImplicitReturns");
  const target = ["--module", "nodenext", "--target", "es2023", "--types", "node", "--skipLibCheck"];
  const roots = ["--typeRoots", resolve("node_modules/@types"), "--ignoreConfig"];
  const args = [...strict, ...target, ...roots, ...files];
  const { stdout, stderr } = spawnSync(resolve("node_modules/.bin/tsc"), args, { encoding: "utf8" });
  expect(stdout + stderr, name).toBe("");
}

/** Checks that the cron line is the one in jobs/nightly.yaml and prints nothing after a complete run. */
async function runCron(block: Block, page: Page): Promise<void> {
  const line = /^# {3}(0 2 \* \* \* .*)$/m.exec(await readFile("jobs/nightly.yaml", "utf8"))?.[1]?.replace("jobs/", "");
  const lines = block.text.trimEnd().split("\n");
  expect(
    lines.filter((each) => !/^[A-Z]+=\S+$/.test(each)),
    placeOf(block),
  ).toEqual([line]);
  const command = line?.replace(/^(\S+ ){5} *(?=\S)/, "").replace("/srv/kbdump", page.folder) ?? "";
  expect(await page.shell.run(`${command}\n`), placeOf(block)).toEqual({ code: 0, stdout: "", stderr: "" });
}

async function expectPartOf(block: Block, files: readonly string[]): Promise<void> {
  const texts = await Promise.all(files.map((file) => readFile(`jobs/${file}`, "utf8")));
  expect(
    texts.some((text) => text.includes(block.text)),
    `${placeOf(block)} is in none of ${files}`,
  ).toBe(true);
}
